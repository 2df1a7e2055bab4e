// The report of a drill: would we cope?

const { fleet } = data
// scored is whether there was anything to score: no coverage is not a whole one.
const scored = known(fleet.coverage)
const lacking = data.workloads.filter(w => w.missing > 0)
const wroteNothing = data.dryRun || data.mode === 'observe'

const growth = { with: grown(data.workloads, w => w.with, data.model), without: grown(data.workloads, w => w.without, data.model) }
const reached = steps => { const step = steps.find(([, share]) => share >= data.minCoverage - 1e-9); return step ? step[0] : null }
const soon = steps => { const at = reached(steps); return at === null ? 'never' : at === 0 ? 'at once' : span(at) }

const headline = () => {
  if (!scored) return `It is not known whether a rebuild would cope: ${fleet.nothing}.`
  const share = `${percent(fleet.coverage)} of ${fleet.needUnknown ? 'what is known to be needed' : 'the pods that are needed now'}${fleet.unknown ? ' by the workloads with a known start' : ''}`
  if (data.passed) return `A rebuild would cope: it starts with ${share}.`
  if (fleet.coverage < data.minCoverage && !fleet.unknown) return `A rebuild would not cope: it starts with ${share}.`
  return `Not proven: a rebuild starts with ${share}, but ${data.massDrop ? 'the fleet lost much of its scale at once' : 'not all is known'}.`
}

const lede = () => {
  if (!scored) return `${count(fleet.workloads, 'workload')} could be scored; ${percent(data.minCoverage)} is asked for.`
  const start = `${number(fleet.covered)} of ${count(fleet.need, 'pod')} in ${count(fleet.workloads, 'workload')} are there from the start; ${percent(data.minCoverage)} is asked for.`
  const grow = reached(growth.with) !== reached(growth.without)
    ? reached(growth.without) === null ? ' Without checkpoints it would never get that far by itself.' : ` Without checkpoints it would take ${soon(growth.without)} to get that far.` : ''
  const stuck = fleet.stuckWith ? ` ${count(fleet.stuckWith, 'workload')} would not get there without a person.` : ''
  return start + grow + stuck
}

const points = (now, then) => {
  if (!known(now) || !known(then)) return 'there is nothing to compare with the last drill'
  const by = Math.round(1000 * (now - then)) / 10
  return by === 0 ? 'as at the last drill' : `${by > 0 ? 'up' : 'down'} ${Math.abs(by)} points since the last drill`
}

const notice = (text, items = [], wrong) => node('div', { class: wrong ? 'notice wrong' : 'notice' }, text,
  items.length > 0 && node('ul', {}, items.slice(0, 8).map(item => node('li', {}, item)), items.length > 8 && node('li', {}, `and ${items.length - 8} more`)))

const opening = () => {
  document.title = `Drill of ${data.site}, ${date(data.at)}`
  put('above', `Drill of ${data.site} · ${stamp(data.at)}`)
  put('headline', headline())
  put('lede', lede())
  if (scored) facts('facts', [
    { label: 'Coverage at the start', value: percent(fleet.coverage), bad: fleet.coverage < data.minCoverage || fleet.unknown > 0, note: data.last ? points(fleet.coverage, data.last.coverage) : `${percent(data.minCoverage)} is asked for` },
    { label: 'Pods missing at the start', value: number(fleet.need - fleet.covered), note: `of ${number(fleet.need)} needed` },
    { label: `Time to ${percent(data.minCoverage)} of the pods`, value: soon(growth.with), note: `${soon(growth.without)} without checkpoints` },
    { label: `Workloads below ${percent(data.minCoverage)}`, value: number(fleet.low), bad: fleet.low > 0, note: `of ${number(fleet.workloads)}; ${number(fleet.full)} are whole` },
    { label: 'Frozen checkpoints', value: number(fleet.frozen), note: count(fleet.rollouts, 'rollout') + ' in flight or declared' },
  ])
  put('notices',
    wroteNothing && notice(data.dryRun ? 'A dry run: nothing was written, and git is scored as it is.' : 'The site only observes: nothing was written, and git is scored as it is.'),
    data.cut > 0 && notice(`${count(data.cut, 'workload')} more ${data.cut === 1 ? 'is' : 'are'} in the document that is kept, and not here.`),
    data.unread.length > 0 && notice('Not all could be read, and what is unknown is not covered:', data.unread, true),
    data.notices && data.notices.length > 0 && notice('How far to trust it:', data.notices, true),
    data.problems.length > 0 && notice('A person must see to this:', data.problems, true))
}

const took = e => !e ? 'not known' : e.never ? 'never' : e.seconds === 0 ? 'at once' : span(e.seconds)
const length = e => !e ? null : e.never ? Number.MAX_VALUE : e.seconds

// lasts says when the last workload has its capacity by itself, with checkpoints and
// without; there may be none that gets there.
const lasts = () => {
  const some = of => data.workloads.some(w => of(w) && !of(w).never)
  const [ours, without] = [[w => w.with, fleet.withSeconds], [w => w.without, fleet.withoutSeconds]]
    .map(([of, seconds]) => !some(of) ? null : seconds > 0 ? 'takes ' + span(seconds) : 'is there at once')
  if (!ours && !without) return 'No workload gets there by itself, with checkpoints or without.'
  if (!ours) return `With checkpoints no workload gets there by itself; without, the last ${without}.`
  return `The last workload to get there by itself ${ours}; without checkpoints ${without ? 'it ' + without : 'none does'}.`
}

const timing = () => {
  only('time', scored)
  if (!scored) return
  put('time-under', `From an empty cluster to what is needed now, as autoscalers grow. ${lasts()}`)
  put('time-legend', legend(['level', 'with checkpoints'], ['level plain', 'without'], ['limit', 'asked for']))
  redraw(part('time-chart'), width => curves(width, {
    label: `Pods over time: ${percent(data.minCoverage)} are there ${soon(growth.with)} with checkpoints, ${soon(growth.without)} without.`,
    all: [{ of: 'level plain', steps: growth.without }, { of: 'level', steps: growth.with }], limit: data.minCoverage,
  }))
}

const causeNames = {
  'not-built': 'Nothing builds it', 'not-merged': 'In a pull request that nobody merged', 'rounded-down': 'Rounded to less than the need',
  'not-declared': 'Not declared', 'declared-low': 'Declared too low', 'built-low': 'Built with less than is declared', 'not-running': 'Declared, and does not run',
}
const spelt = name => called(causeNames, name) || name.replaceAll('-', ' ').replace(/^./, first => first.toUpperCase())

const missing = () => {
  const sums = new Map()
  for (const w of lacking) {
    const of = w.causes.length > 0 ? w.causes[0].name : 'unexplained'
    const sum = sums.get(of) || { of, pods: 0, workloads: 0 }
    sum.pods += w.missing
    sum.workloads++
    sums.set(of, sum)
  }
  only('causes', scored)
  const all = [...sums.values()].sort((a, b) => b.pods - a.pods)
  const rest = all.slice(7)
  put('causes-under', lacking.length === 0 ? 'Nothing: each workload starts with all that it needs.'
    : `${count(fleet.need - fleet.covered, 'pod')} of ${count(lacking.length, 'workload')}, by the cause that matters most.`
      + (rest.length > 0 ? ` ${count(rest.length, 'lesser cause')} ${rest.length === 1 ? 'is' : 'are'} not drawn.` : ''))
  if (all.length === 0) return
  redraw(part('causes-chart'), width => bars(width, 'Pods that would be missing, by cause.', all.slice(0, 7).map(({ of, pods, workloads }) =>
    ({ label: spelt(of), parts: [{ value: pods, of: 'lack', text: `${count(pods, 'pod')}, ${count(workloads, 'workload')}` }] }))))
}

const asked = n => known(n) ? number(n) : node('span', { class: 'quiet' }, 'none')
const amount = (title, of, width) => ({ title, width, numeric: true, down: true, of, show: row => known(of(row)) ? number(of(row)) : node('span', { class: 'quiet' }, '–') })
const titled = text => node('span', { title: text }, text)

const why = w => [w.unknown && 'Not known: ' + w.unknown, ...w.causes.map(cause => cause.text), w.frozen && 'Frozen: ' + w.frozen.text].filter(Boolean).join(' · ')
const age = w => w.checkpoint ? (w.checkpoint.orBefore ? 'over ' : '') + span(w.checkpoint.ageSeconds) : null

const workloads = () => {
  put('workloads-under', 'Coverage is the part of the need that a rebuild starts with. Age is how long git has said the level that it says: a steady need makes an old one.' + (data.workloads.length > long ? ' A press on a reason shows all of it, as do Enter and the arrows.' : ''))
  table('workloads', {
    caption: 'Workloads by coverage', noun: 'workload', rows: data.workloads, least: '64rem', sort: { column: 1, sign: 1 },
    text: w => key(w) + ' ' + w.causes.map(cause => cause.name).join(' ') + ' ' + why(w),
    kinds: [
      { label: 'all', test: () => true }, { label: 'below the threshold', test: w => w.low }, { label: 'with pods missing', test: w => w.missing > 0 },
      { label: 'frozen', test: w => known(w.frozen) }, { label: 'in a rollout', test: w => known(w.rollout) },
      { label: 'without a checkpoint', test: w => !known(w.declared) }, { label: 'not scored', test: w => !known(w.coverage) }, { label: 'unknown', test: w => known(w.unknown) || w.startUnknown },
    ],
    columns: [
      { title: 'Workload', width: '17%', of: key, show: name },
      { title: 'Coverage', width: '13%', of: w => w.coverage, show: w => shareBar(w.coverage) },
      amount('Need', w => w.need, '6.5%'), amount('In git', w => w.declared, '8%'), amount('Starts at', w => w.rebuiltAt, '8%'), amount('Missing', w => known(w.coverage) ? w.missing : null, '7.5%'),
      { title: 'Age', width: '7.5%', down: true, of: w => w.checkpoint && w.checkpoint.ageSeconds, show: w => w.checkpoint ? node('span', { title: `${w.checkpoint.orBefore ? 'before' : 'since'} ${stamp(w.checkpoint.since)}` }, age(w)) : node('span', { class: 'quiet' }, 'none') },
      { title: 'To capacity', width: '12.5%', down: true, of: w => length(w.with), show: w => [took(w.with), w.without && node('div', { class: 'quiet' }, 'without: ', took(w.without))] },
      { title: 'Why', width: '20%', more: true, of: w => why(w) || null, show: w => node('span', { class: 'small' }, why(w)) },
    ],
  })
}

const progress = r => known(r.available) && known(r.desired) ? `${number(r.available)} of ${count(r.desired, 'pod')}` : r.inFlight ? 'not known' : 'none in flight'
const returning = { from: 'the version before', to: 'the new version', manifests: 'what the manifests say' }

const rollouts = () => {
  const rows = data.workloads.filter(w => w.rollout)
  only('rollouts', rows.length > 0)
  if (rows.length === 0) return
  table('rollouts-table', {
    caption: 'Rollouts', noun: 'rollout', rows, least: '60rem', text: w => key(w) + ' ' + w.rollout.text,
    columns: [
      { title: 'Workload', width: '22%', of: key, show: name },
      { title: 'On the new version', width: '25%', of: w => w.rollout.available, show: w => [progress(w.rollout), w.rollout.failure && node('div', { class: 'bad' }, w.rollout.failure), w.rollout.halted && node('div', { class: 'quiet' }, w.rollout.halted)] },
      { title: 'Git declares', width: '14%', of: w => w.rollout.milestone, show: w => known(w.rollout.milestone) ? `${w.rollout.milestone} %${w.rollout.phase ? ', ' + w.rollout.phase : ''}` : node('span', { class: 'quiet' }, 'nothing of it') },
      { title: 'A rebuild returns', width: '39%', of: w => w.rollout.returns, show: w => [node('strong', {}, called(returning, w.rollout.returns) || w.rollout.returns), w.rollout.version && [' ', node('code', {}, w.rollout.version)], w.rollout.byItself === false && w.rollout.returns !== 'manifests' && [' ', node('span', { class: 'mark bad' }, 'not by itself')], node('div', { class: 'quiet' }, w.rollout.text)] },
    ],
  })
}

const frozen = () => {
  const rows = data.workloads.filter(w => w.frozen)
  only('frozen', rows.length > 0)
  if (rows.length === 0) return
  const at = new Date(data.at)
  const since = w => w.frozen.since ? (at - new Date(w.frozen.since)) / 1000 : null
  table('frozen-table', {
    caption: 'Frozen checkpoints', noun: 'frozen checkpoint', rows, least: '42rem', text: w => key(w) + ' ' + w.frozen.reason + ' ' + w.frozen.text,
    columns: [
      { title: 'Workload', width: '26%', of: key, show: name },
      { title: 'For', width: '12%', down: true, of: since, show: w => known(since(w)) ? span(since(w)) : node('span', { class: 'quiet' }, 'not known') },
      amount('In git', w => w.declared, '11%'), amount('Need', w => w.need, '9%'),
      { title: 'Reason', width: '42%', more: true, of: w => w.frozen.reason, show: w => w.frozen.text },
    ],
  })
}

const fix = () => {
  only('fix', data.findings.length > 0)
  if (data.findings.length === 0) return
  table('fix-table', {
    caption: 'What to fix', noun: 'finding', rows: data.findings, least: '42rem', text: f => f.trap + ' ' + f.subject + ' ' + f.text + ' ' + f.workloads.join(' '),
    columns: [
      { title: 'Where', width: '26%', of: f => f.subject, show: f => [titled(f.subject), node('div', { class: 'quiet' }, spelt(f.trap))] },
      { title: 'What to do', width: '52%', more: true, of: f => f.text, show: f => f.text },
      amount('Workloads', f => f.workloads.length, '11%'), amount('Pods missing', f => f.missing, '11%'),
    ],
  })
}

const fromTo = (then, now) => [known(then) ? then : 'none', ' → ', known(now) ? now : 'none']
const whats = { changed: 'changed', added: 'new', gone: 'gone' }

const changes = () => {
  if (!data.last) return put('changes-under', 'This is the first drill of the site that is known here.')
  const { last } = data
  put('changes-under', `The last was on ${stamp(last.at)}, ${known(last.coverage) ? 'at ' + percent(last.coverage) : 'without a coverage'}: ${points(fleet.coverage, last.coverage).replace(' since the last drill', '').replace('as at the last drill', 'the same')}. `
    + (last.changes.length === 0 ? 'No workload changed.' : `${count(last.changes.length, 'workload')} changed, those first that fell furthest.`))
  if (last.changes.length === 0) return
  const share = then => then && known(then.coverage) ? percent(then.coverage) : null
  const level = then => then && known(then.declared) ? number(then.declared) : null
  const fell = c => c.then && c.now && known(c.then.coverage) && known(c.now.coverage) ? c.now.coverage - c.then.coverage : null
  table('changes-table', {
    caption: 'Changes since the last drill', noun: 'change', rows: last.changes, least: '42rem', text: c => key(c) + ' ' + c.what + ' ' + (c.now && c.now.cause || ''),
    columns: [
      { title: 'Workload', width: '30%', of: key, show: c => [name(c), c.what !== 'changed' && [' ', node('span', { class: c.what === 'gone' ? 'mark bad' : 'mark' }, called(whats, c.what) || c.what)]] },
      { title: 'Coverage', width: '22%', of: fell, show: c => fromTo(share(c.then), share(c.now)) },
      { title: 'In git', width: '20%', of: c => c.now && c.now.declared, down: true, show: c => fromTo(level(c.then), level(c.now)) },
      { title: 'Cause now', width: '28%', of: c => c.now && c.now.cause || null, show: c => c.now && c.now.cause ? spelt(c.now.cause) : node('span', { class: 'quiet' }, 'none') },
    ],
  })
}

const flush = () => {
  const { flush } = data
  const rows = [...flush.levels.map(l => ({ ...l, state: wroteNothing ? 'would be written' : 'written' })),
    ...flush.proposed.map(l => ({ ...l, state: 'proposed' })), ...flush.withheld.map(l => ({ ...l, state: 'withheld' }))]
  const commit = flush.commit ? `Commit ${short(flush.commit)}: ${flush.subject || 'the levels below'}.`
    : flush.proposal ? `${flush.subject || 'The levels below'}, in a pull request that is not scored: ${flush.proposal}.`
      : wroteNothing ? 'Nothing: git is scored as it is.' : 'Nothing: git said all of it already.'
  put('flush-under', commit + (flush.exact ? ' Levels were lowered, too.' : ''))
  if (rows.length === 0) return
  table('flush-table', {
    caption: 'Levels of this drill', noun: 'level', rows, least: '42rem', text: l => key(l) + ' ' + l.state + ' ' + l.text,
    columns: [
      { title: 'Workload', width: '28%', of: key, show: name },
      { title: 'Level', width: '18%', of: l => l.to, down: true, show: l => fromTo(known(l.from) ? number(l.from) : null, known(l.to) ? number(l.to) : null) },
      { title: 'State', width: '14%', of: l => l.state, show: l => l.state },
      { title: 'Why', width: '40%', more: true, of: l => l.text, show: l => l.text },
    ],
  })
}

const closing = () => {
  only('left', data.leftOut.length > 0)
  if (data.leftOut.length > 0) {
    table('left-table', {
      caption: 'Workloads that are not scored', noun: 'reason', rows: data.leftOut, text: l => l.reason + ' ' + l.text,
      columns: [amount('Workloads', l => l.workloads, '8rem'), { title: 'Why', width: 'auto', of: l => l.text, show: l => l.text }],
    })
  }
  only('model', data.model.text !== '')
  put('model-under', data.model.text)
  if (data.model.constants.length > 0) {
    table('model-table', {
      caption: 'Constants of the estimate', noun: 'constant', rows: data.model.constants, least: '36rem', text: c => c.name,
      columns: [
        { title: 'Constant', width: '34%', of: c => c.name, show: c => c.name },
        { title: 'Value', width: '16%', numeric: true, down: true, of: c => c.value, show: c => plain(c.value) + ' ' + c.unit },
        { title: 'Source', width: '50%', of: c => c.source, show: c => c.source },
      ],
    })
  }
  const foot = [['Site', data.site], ['Cluster', data.cluster || 'not known'], ['Branch', data.branch], ['Commit', data.commit || 'none'],
    ['Sampled', stamp(data.at)], ['Mode', data.mode + (data.dryRun ? ', dry run' : '')], ['Format', data.apiVersion + ' ' + data.kind],
    ...data.links.map(link => ['Kept as ' + link.form, link.uri])]
  put('foot', foot.filter(Boolean).map(([term, text]) => node('div', {}, node('dt', {}, term), node('dd', {}, text))))
}

for (const show of [opening, timing, missing, fix, workloads, rollouts, frozen, changes, flush, closing]) show()
