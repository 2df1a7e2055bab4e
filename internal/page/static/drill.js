// The report of a drill: would we cope?

const { fleet } = data
// scored is whether there was anything to score: no coverage is not a whole one.
const scored = known(fleet.coverage)
const lacking = data.workloads.filter(w => w.missing > 0)
// room has an answer for each limit; a document of an older version has none.
const room = data.fit
const unfit = Boolean(room) && room.answer === 'does not fit'
const wroteNothing = data.dryRun || data.mode === 'observe'

const growth = { with: grown(data.workloads, w => w.with, data.model), without: grown(data.workloads, w => w.without, data.model) }
const reached = steps => { const step = steps.find(([, share]) => share >= data.minCoverage - 1e-9); return step ? step[0] : null }
const soon = steps => { const at = reached(steps); return at === null ? 'never' : at === 0 ? 'at once' : span(at) }

const answers = { 'does not fit': ' The rebuild does not fit its limits.', close: ' The rebuild is close to a limit.', 'likely fits': ' The rebuild likely fits its limits.' }
const fitted = () => !room ? '' : called(answers, room.answer) || ' It is unknown whether the rebuild fits its limits.'

// range is a value, or both ends of an unknown one.
const range = (low, high, show) => low === high ? show(low) : `${show(low)} to ${show(high)}`

const headline = () => {
  if (!scored) return `The coverage of a rebuild is unknown: ${fleet.nothing}.`
  const share = `${range(fleet.coverage, fleet.coverageAtMost, percent)} of ${fleet.needUnknown ? 'the known needed pods' : 'the needed pods'}`
  const start = `starts with ${share} and ${fleet.surplus === 0 ? 'no surplus pods' : count(fleet.surplus, 'surplus pod')}`
  if (data.passed) return `The coverage is high enough: a rebuild ${start}.${fitted()}`
  if (fleet.coverageAtMost < data.minCoverage) return `The coverage is too low: a rebuild ${start}.${fitted()}`
  if (unfit && !data.massDrop) return `A rebuild does not fit its limits: it ${start}.`
  return `The coverage is not proven: a rebuild ${start}, but ${data.massDrop ? 'there is a mass drop' : 'some values are unknown'}.${fitted()}`
}

const lede = () => {
  if (!scored) return `${count(fleet.workloads, 'workload')} could be scored. The minimum coverage is ${percent(data.minCoverage)}.`
  const start = `A rebuild starts ${range(fleet.covered, fleet.coveredAtMost, number)} of ${count(fleet.need, 'pod')} in ${count(fleet.workloads, 'workload')}. The minimum coverage is ${percent(data.minCoverage)}.`
  const grow = reached(growth.with) !== reached(growth.without)
    ? reached(growth.without) === null ? ' Without gitlatch, a rebuild never reaches it.' : ` Without gitlatch, a rebuild reaches it after ${soon(growth.without)}.` : ''
  const stuck = fleet.stuckWith ? ` ${count(fleet.stuckWith, 'workload')} ${fleet.stuckWith === 1 ? 'has' : 'have'} no autoscaler that adds the missing pods.` : ''
  return start + grow + stuck
}

const points = (now, then) => {
  if (!known(now) || !known(then)) return 'no comparison with the last drill'
  const by = Math.round(1000 * (now - then)) / 10
  return by === 0 ? 'same as in the last drill' : `${by > 0 ? 'up' : 'down'} ${Math.abs(by)} points since the last drill`
}

const surplus = () => {
  if (fleet.surplus === 0) return `of ${number(fleet.rebuilt)} started`
  const window = span(constant(data.model, 'scaleDownWindow', 300))
  const lowered = fleet.surplus - fleet.surplusStuck
  const end = lowered === 0 ? 'no autoscaler lowers them' : `autoscalers lower ${lowered < fleet.surplus ? number(lowered) + ' of ' : ''}them after ${window}`
  return `of ${number(fleet.rebuilt)} started, ${percent(fleet.surplus / fleet.live)} more than desired; ${end}`
}

const fitting = () => ({
  label: 'Room for a rebuild', value: room.answer, bad: unfit, note: `${count(room.pods, 'pod')}, ${count(room.limits.length, 'limit')}`,
})

const notice = (text, items = [], wrong) => node('div', { class: wrong ? 'notice wrong' : 'notice' }, text,
  items.length > 0 && node('ul', {}, items.slice(0, 8).map(item => node('li', {}, item)), items.length > 8 && node('li', {}, `and ${items.length - 8} more`)))

const opening = () => {
  document.title = `Drill of ${data.site}, ${date(data.at)}`
  put('above', `Drill of ${data.site} · ${stamp(data.at)}`)
  put('headline', headline())
  put('lede', lede())
  if (scored) facts('facts', [
    { label: 'Coverage at the start', value: range(fleet.coverage, fleet.coverageAtMost, percent), bad: fleet.coverage < data.minCoverage, note: data.last ? points(fleet.coverage, data.last.coverage) : `minimum ${percent(data.minCoverage)}` },
    { label: 'Pods missing at the start', value: range(fleet.need - fleet.coveredAtMost, fleet.need - fleet.covered, number), note: `of ${number(fleet.need)} needed` },
    room ? fitting() : { label: 'Frozen workloads', value: number(fleet.frozen), note: count(fleet.rollouts, 'rollout') + ' in flight or in git' },
    { label: 'Surplus pods at the start', value: number(fleet.surplus), note: surplus() },
    { label: `Time to ${percent(data.minCoverage)} of the pods`, value: soon(growth.with), note: `${soon(growth.without)} without gitlatch` },
    { label: `Workloads below ${percent(data.minCoverage)}`, value: number(fleet.low), bad: fleet.low > 0, note: `of ${number(fleet.workloads)}; ${number(fleet.full)} start with all pods` },
  ])
  put('notices',
    wroteNothing && notice(data.dryRun ? 'This was a dry run. The drill wrote nothing, and scored git unchanged.' : 'The site only observes. The drill wrote nothing, and scored git unchanged.'),
    data.cut > 0 && notice(`${count(data.cut, 'workload')} more ${data.cut === 1 ? 'is' : 'are'} in the saved document, but not on this page.`),
    data.unread.length > 0 && notice('Part of the cluster could not be read, and unknown values do not count as covered:', data.unread, true),
    data.notices && data.notices.length > 0 && notice('Limits of this result:', data.notices, true),
    data.problems.length > 0 && notice('Fix these problems:', data.problems, true))
}

const took = e => !e ? 'unknown' : e.never ? 'never' : e.seconds === 0 ? 'at once' : span(e.seconds)
const length = e => !e ? null : e.never ? Number.MAX_VALUE : e.seconds

// lasts says when the last workload has its capacity by itself, with checkpoints and
// without; there may be none that gets there.
const lasts = () => {
  const some = of => data.workloads.some(w => of(w) && !of(w).never)
  const [ours, without] = [[w => w.with, fleet.withSeconds], [w => w.without, fleet.withoutSeconds]]
    .map(([of, seconds]) => !some(of) ? null : seconds > 0 ? 'after ' + span(seconds) : 'at once')
  if (!ours && !without) return 'No autoscaler adds the missing pods, with or without gitlatch.'
  if (!ours) return `With gitlatch, no autoscaler adds the missing pods. Without, the last workload has its pods ${without}.`
  return `The last workload has its pods ${ours}; without gitlatch, ${without || 'never'}.`
}

const timing = () => {
  only('time', scored)
  if (!scored) return
  put('time-under', `From an empty cluster to the needed pods, as autoscalers add them. ${lasts()}`)
  put('time-legend', legend(['level', 'with gitlatch'], ['level plain', 'without'], ['limit', 'minimum coverage']))
  redraw(part('time-chart'), width => curves(width, {
    label: `Pods over time: ${percent(data.minCoverage)} are ready ${soon(growth.with)} with gitlatch, ${soon(growth.without)} without.`,
    all: [{ of: 'level plain', steps: growth.without }, { of: 'level', steps: growth.with }], limit: data.minCoverage,
  }))
}

const causeNames = {
  'not-merged': 'In an open pull request', 'rounded-down': 'Rounded down',
  'not-declared': 'No level in git', yield: 'Edit grace period', hold: 'Paused', unread: 'Could not be listed',
  'declared-low': 'Level below the need', 'not-running': 'In git, not in the cluster',
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
  put('causes-under', lacking.length === 0 ? 'Each workload starts with all needed pods.'
    : `${count(fleet.need - fleet.covered, 'pod')} of ${count(lacking.length, 'workload')}, by their main cause.`
      + (rest.length > 0 ? ` ${count(rest.length, 'smaller cause')} ${rest.length === 1 ? 'is' : 'are'} not drawn.` : ''))
  if (all.length === 0) return
  redraw(part('causes-chart'), width => bars(width, 'Missing pods by cause.', all.slice(0, 7).map(({ of, pods, workloads }) =>
    ({ label: spelt(of), parts: [{ value: pods, of: 'lack', text: `${count(pods, 'pod')}, ${count(workloads, 'workload')}` }] }))))
}

const asked = n => known(n) ? number(n) : node('span', { class: 'quiet' }, 'none')
const amount = (title, of, width) => ({ title, width, numeric: true, down: true, of, show: row => known(of(row)) ? number(of(row)) : node('span', { class: 'quiet' }, '–') })
const titled = text => node('span', { title: text }, text)

// reasons are the reasons in a workload's row: {name, text, finding}. The finding, if there
// is one, has the same text and the fix.
const reasons = w => [
  w.unknown && !w.causes.some(cause => cause.text === w.unknown) && { name: 'Unknown', text: w.unknown },
  ...w.causes.map(cause => ({
    name: spelt(cause.name), text: cause.fix ? cause.text + ' Fix: ' + cause.fix : cause.text,
    finding: data.findings.find(f => f.trap === cause.name && f.workloads.includes(key(w))),
  })),
  w.frozen && { name: 'Frozen', text: w.frozen.text },
].filter(Boolean)
const why = w => reasons(w).map(reason => reason.name + ': ' + reason.text).join(' · ')
let showFinding // scrolls to a finding
const toFinding = ({ name, finding }) => {
  const link = node('a', { href: '#fix-title' }, name)
  link.addEventListener('click', event => { event.preventDefault(); showFinding(finding) })
  return link
}
const reasoned = w => reasons(w).map(reason => node('div', { class: 'small' }, reason.finding ? toFinding(reason) : [node('strong', {}, reason.name), ': ', reason.text]))
const age = ({ orBefore, ageSeconds }) => orBefore ? 'over\u00a0' + span(ageSeconds, 1) : span(ageSeconds)

const workloads = () => {
  put('workloads-under', 'Coverage is the share of the needed pods that a rebuild starts with. Surplus pods are above the desired replicas. Age is the time since the level in git changed.',
    data.workloads.length > long && node('span', { class: 'hint' }, ' Click a reason to show all of it, or use Enter and the arrow keys.'))
  table('workloads', {
    caption: 'Workloads by missing pods', noun: 'workload', rows: data.workloads, least: '68rem', sort: { column: 5, sign: -1 },
    text: w => key(w) + ' ' + w.causes.map(cause => cause.name).join(' ') + ' ' + why(w),
    kinds: [
      { label: 'all', test: () => true }, { label: 'below the threshold', test: w => w.low }, { label: 'with pods missing', test: w => w.missing > 0 },
      { label: 'frozen', test: w => known(w.frozen) }, { label: 'in a rollout', test: w => known(w.rollout) },
      { label: 'without a checkpoint', test: w => !known(w.declared) }, { label: 'not scored', test: w => !known(w.coverage) }, { label: 'unknown', test: w => known(w.unknown) || w.start.basis === 'unknown' },
    ],
    columns: [
      { title: 'Workload', width: '15%', of: key, show: name },
      { title: 'Coverage', width: '11%', of: w => w.coverage, show: w => shareBar(w.coverage) },
      amount('Need', w => w.need, '6%'), amount('In git', w => w.declared, '6%'), { title: 'Starts at', width: '6%', numeric: true, down: true, of: w => w.start.atLeast, show: w => node('span', { title: `${w.start.basis}: ${w.start.text}` }, range(w.start.atLeast, w.start.atMost, number)) },
      amount('Missing', w => known(w.coverage) ? w.missing : null, '7.5%'), amount('Surplus', w => known(w.coverage) ? w.surplus : null, '7.5%'),
      { title: 'Age', width: '8%', down: true, of: w => w.checkpoint && w.checkpoint.ageSeconds, show: w => w.checkpoint ? node('span', { title: `${w.checkpoint.orBefore ? 'before' : 'since'} ${stamp(w.checkpoint.since)}` }, age(w.checkpoint)) : node('span', { class: 'quiet' }, 'none') },
      { title: 'To capacity', width: '9.5%', down: true, of: w => length(w.with), show: w => [took(w.with), w.without && node('div', { class: 'quiet' }, 'without: ', took(w.without))] },
      { title: 'Why', width: 'auto', more: true, of: w => why(w) || null, show: reasoned },
    ],
  })
}

const progress = r => known(r.available) && known(r.desired) ? `${number(r.available)} of ${count(r.desired, 'pod')}` : r.inFlight ? 'unknown' : 'none in flight'
const returning = { from: 'the old version', to: 'the new version', manifests: 'the version in the manifests' }

const rollouts = () => {
  const rows = data.workloads.filter(w => w.rollout)
  only('rollouts', rows.length > 0)
  if (rows.length === 0) return
  table('rollouts-table', {
    caption: 'Rollouts', noun: 'rollout', rows, least: '60rem', text: w => key(w) + ' ' + w.rollout.text,
    columns: [
      { title: 'Workload', width: '22%', of: key, show: name },
      { title: 'On the new version', width: '25%', wide: true, of: w => w.rollout.available, show: w => [progress(w.rollout), w.rollout.failure && node('div', { class: 'bad' }, w.rollout.failure), w.rollout.halted && node('div', { class: 'quiet' }, w.rollout.halted)] },
      { title: 'In git', width: '14%', of: w => w.rollout.milestone, show: w => known(w.rollout.milestone) ? `${w.rollout.milestone} %${w.rollout.phase ? ', ' + w.rollout.phase : ''}` : node('span', { class: 'quiet' }, 'no entry') },
      { title: 'A rebuild starts with', width: '39%', wide: true, of: w => w.rollout.returns, show: w => [node('strong', {}, called(returning, w.rollout.returns) || w.rollout.returns), w.rollout.version && [' ', node('code', {}, w.rollout.version)], w.rollout.byItself === false && w.rollout.returns !== 'manifests' && [' ', node('span', { class: 'mark bad' }, 'not automatically')], node('div', { class: 'quiet' }, w.rollout.text)] },
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
    caption: 'Frozen workloads', noun: 'frozen workload', rows, least: '42rem', text: w => key(w) + ' ' + w.frozen.reason + ' ' + w.frozen.text,
    columns: [
      { title: 'Workload', width: '26%', of: key, show: name },
      { title: 'For', width: '12%', down: true, of: since, show: w => known(since(w)) ? span(since(w)) : node('span', { class: 'quiet' }, 'unknown') },
      amount('In git', w => w.declared, '11%'), amount('Need', w => w.need, '9%'),
      { title: 'Reason', width: '42%', more: true, of: w => w.frozen.reason, show: w => w.frozen.text },
    ],
  })
}

// among names the first subjects, and counts the others.
const among = all => all.slice(0, 3).join(', ') + (all.length > 3 ? ` and ${number(all.length - 3)} more` : '')

const fix = () => {
  only('fix', data.findings.length > 0)
  if (data.findings.length === 0) return
  showFinding = table('fix-table', {
    caption: 'What to fix', noun: 'finding', rows: data.findings, least: '42rem', text: f => f.trap + ' ' + f.subjects.join(' ') + ' ' + f.text + ' ' + f.fix + ' ' + f.workloads.join(' '),
    columns: [
      { title: 'Where', width: '26%', of: f => f.subjects.join(', '), show: f => [titled(among(f.subjects)), node('div', { class: 'quiet' }, spelt(f.trap) + (f.basis === 'unknown' ? ', unknown' : ''))] },
      { title: 'What to do', width: '52%', more: true, of: f => f.text, show: f => [f.text, ' ', node('strong', {}, 'Fix: ' + f.fix)] },
      amount('Workloads', f => f.workloads.length, '11%'), amount('Pods missing', f => f.missing, '11%'),
    ],
  })
}

// sized formats an amount of a resource: CPU in CPUs, memory in GiB.
const sized = (l, n) => {
  if (!known(n)) return node('span', { class: 'quiet' }, 'unknown')
  const resource = l.resource.split('.').pop()
  return resource === 'cpu' ? plain(n / 1000) : ['memory', 'ephemeral-storage'].includes(resource) ? `${plain(Math.round(n / 2 ** 30 * 10) / 10)} GiB` : number(n)
}
const used = l => known(l.asked) && known(l.there) ? l.asked / Math.max(1, l.there) : null

const limits = () => {
  only('limits', Boolean(room))
  if (!room) return
  table('limits-table', {
    caption: 'Limits of a rebuild', noun: 'limit', rows: room.limits, least: '48rem', text: l => l.limit + ' ' + l.resource + ' ' + l.answer + ' ' + (l.why || ''),
    columns: [
      { title: 'Limit', width: '26%', wide: true, of: l => l.limit, show: l => [l.limit, node('div', { class: 'quiet' }, l.resource)] },
      { title: 'Answer', width: '12%', of: l => l.answer, show: l => node('span', { class: l.answer === 'does not fit' && 'bad' }, l.answer) },
      { title: 'Share', width: '14%', down: true, of: used, show: l => shareBar(used(l)) },
      { title: 'Asked', width: '11%', numeric: true, down: true, of: l => l.asked, show: l => sized(l, l.asked) },
      { title: 'Of', width: '11%', numeric: true, down: true, of: l => l.there, show: l => sized(l, l.there) },
      { title: 'Estimate', width: '11%', numeric: true, down: true, of: l => l.estimate, show: l => sized(l, l.estimate) },
      { title: 'Note', width: '15%', more: true, of: l => l.why || null, show: l => l.why || '' },
    ],
  })
}

const fromTo = (then, now) => [known(then) ? then : 'none', ' → ', known(now) ? now : 'none']
const whats = { changed: 'changed', added: 'new', gone: 'gone' }

const changes = () => {
  if (!data.last) return put('changes-under', 'No earlier drill of the site is saved here.')
  const { last } = data
  put('changes-under', `The last was on ${stamp(last.at)}, ${known(last.coverage) ? 'at ' + percent(last.coverage) : 'without a coverage'}: ${points(fleet.coverage, last.coverage).replace(' since the last drill', '').replace('same as in the last drill', 'the same')}. `
    + (last.changes.length === 0 ? 'No workload changed.' : `${count(last.changes.length, 'workload')} changed. The largest drop in coverage comes first.`))
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
      { title: 'Cause now', width: '28%', wide: true, of: c => c.now && c.now.cause || null, show: c => c.now && c.now.cause ? spelt(c.now.cause) : node('span', { class: 'quiet' }, 'none') },
    ],
  })
}

const flush = () => {
  const { flush } = data
  const rows = [...flush.levels.map(l => ({ ...l, state: wroteNothing ? 'would be written' : 'written' })),
    ...flush.proposed.map(l => ({ ...l, state: 'proposed' })), ...flush.withheld.map(l => ({ ...l, state: 'blocked' }))]
  const commit = flush.commit ? `Commit ${short(flush.commit)}: ${flush.subject || 'the levels below'}.`
    : flush.proposal ? `${flush.subject || 'The levels below'}, in a pull request, which is not scored: ${flush.proposal}.`
      : wroteNothing ? 'The drill wrote nothing, and scored git unchanged.' : 'No level changed.'
  put('flush-under', commit + (flush.exact ? ' The drill also lowered levels.' : ''))
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
      columns: [amount('Workloads', l => l.workloads, '8rem'), { title: 'Why', width: 'auto', wide: true, of: l => l.text, show: l => l.text }],
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
        { title: 'Source', width: '50%', wide: true, of: c => c.source, show: c => c.source },
      ],
    })
  }
  const foot = [['Site', data.site], ['Cluster', data.cluster || 'unknown'], ['Branch', data.branch], ['Commit', data.commit || 'none'],
    ['Sampled', stamp(data.at)], ['Mode', data.mode + (data.dryRun ? ', dry run' : '')], ['Format', data.apiVersion + ' ' + data.kind],
    ...data.links.map(link => ['Saved as ' + link.form, link.uri])]
  put('foot', foot.filter(Boolean).map(([term, text]) => node('div', {}, node('dt', {}, term), node('dd', {}, text))))
}

for (const show of [opening, timing, missing, limits, fix, workloads, rollouts, frozen, changes, flush, closing]) show()
