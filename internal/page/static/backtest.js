// The report of a backtest: which policy, and what would it have done?

const candidates = data.candidates.map((c, i) => ({ ...c, i, excess: c.needPodHours > 0 ? c.wastePodHours / c.needPodHours : 0 }))
const best = candidates.find(c => c.recommended)
const wants = data.wants
const enough = c => c.declared > 0 && c.worst && c.worst.share >= wants.coverage
const days = (new Date(data.to) - new Date(data.from)) / 86400000
const daily = n => plain(Number(n.toFixed(2)))
const aDay = n => `${daily(n)} ${daily(n) === '1' ? 'commit' : 'commits'} a day`

const opening = () => {
  document.title = 'Backtest of ' + count(candidates.length, 'policy', 'policies')
  put('above', `Backtest · ${count(data.workloads, 'workload')}, ${date(data.from)} to ${date(data.to)}`)
  if (!best) {
    put('headline', `The backtest recommends no policy: ${data.why}.`)
    return
  }
  put('headline', `Recommended: ${best.name}. Its levels cover ${percent(best.coverage)} of the desired replicas with ${aDay(best.commitsPerDay)}.`)
  put('lede', `Of ${count(candidates.length, 'policy', 'policies')}, it has ${data.why}. Waste costs nothing before a rebuild.`)
  facts('facts', [
    { label: 'Coverage over time', value: percent(best.coverage), note: best.declared < data.workloads ? `${number(best.declared)} of ${count(data.workloads, 'workload')} had a level` : `all ${count(data.workloads, 'workload')} had a level` },
    best.worst && { label: 'At worst', value: percent(best.worst.share), bad: best.worst.share < wants.coverage, note: best.worst.share < 1 ? `${number(best.worst.declared)} of ${number(best.worst.need)} pods, ${named(best.worst.workload).name}` : `of each replica count that lasted ${span(goSpan(data.lasting))}` },
    { label: 'Commits a day', value: daily(best.commitsPerDay), bad: best.commitsPerDay > wants.commitsPerDay, note: `${count(best.updates, 'update')} in ${count(Number(best.days.toFixed(1)), 'day')}` },
    { label: 'Waste', value: percent(best.excess), note: `${number(Math.round(best.wastePodHours))} pod hours` },
  ])
  put('notices', node('p', { class: 'notice' }, 'In gitlatch.yaml: ', node('code', {}, rules(best.policy))))
}

const rules = p => `default: {series: ${p.series}, round: ${p.round}, hold: {up: ${p.holdUp}, down: ${held(p.holdDown)}}, margin: ${Number((100 * p.margin).toPrecision(3))}%}`
const held = text => text.replace(/^(\d+h)0m0s$/, '$1').replace(/^(.*\d+m)0s$/, '$1')

const rank = c => c.recommended ? 0 : c.front ? 1 : enough(c) ? 2 : 3
const dot = c => c.front || c.recommended ? (enough(c) ? 'spot front' : 'spot short') : 'spot'
const told = c => `${c.name}: ${aDay(c.commitsPerDay)}, ${c.worst ? percent(c.worst.share) + ' at worst, ' : ''}waste ${percent(c.excess)}`

const trade = () => {
  const shown = candidates.filter(c => c.declared > 0)
  put('trade-under', `Each point is a policy. Points on the left make fewer commits. The front has the policies that no other policy improves without a worse result in commits, waste or worst coverage. The dashed lines are the limits: at most ${plain(wants.commitsPerDay)} commits a day, and a worst coverage of at least ${percent(wants.coverage)}.`)
  put('trade-legend', legend(['ring', 'recommended'], ['spot front', 'front, covers enough'], ['spot short', 'front, covers too little'], ['spot', 'behind the front'], ['limit', 'limit']))
  const few = shown.length <= 12
  const points = (of, all = shown) => all.map(c => ({ x: c.commitsPerDay, y: of(c), of: dot(c), rank: rank(c), text: told(c), label: (few || rank(c) < 2) && c.name }))
  const wasteTicks = ticks(Math.max(0.1, ...shown.map(c => c.excess)), 5)
  redraw(part('waste-chart'), width => scatter(width, {
    label: `Waste against commits a day of ${shown.length} policies; less of both is better. The table below has the numbers.`, points: points(c => c.excess),
    xTitle: 'commits a day', yTitle: 'waste', yTicks: wasteTicks, yText: v => Math.round(100 * v) + ' %', limitX: wants.commitsPerDay,
  }))
  const least = Math.min(wants.coverage, ...shown.filter(c => c.worst).map(c => c.worst.share))
  const step = least < 0.5 ? 0.2 : least < 0.8 ? 0.1 : 0.05
  const from = Math.max(0, Math.floor(least / step - 0.001) * step)
  const worstTicks = Array.from({ length: Math.round((1 - from) / step) + 1 }, (_, i) => from + i * step)
  redraw(part('worst-chart'), width => scatter(width, {
    label: `Worst coverage against commits a day of ${shown.length} policies; more coverage with less commits is better. The table below has the numbers.`,
    points: points(c => c.worst.share, shown.filter(c => c.worst)), xTitle: 'commits a day', yTitle: 'worst coverage', yTicks: worstTicks, yText: v => Math.round(100 * v) + ' %', limitX: wants.commitsPerDay, limitY: wants.coverage,
  }))
}

const dayTicks = () => {
  const from = new Date(data.from)
  const hours = [1, 3, 6, 12, 24, 48, 168, 336, 672, 2184].find(h => days * 24 / h <= 16) || 8736
  const all = []
  const step = hours * 3600000
  const monday = 4 * 86400000 // since the epoch
  const zero = hours >= 168 ? monday : 0
  for (let at = Math.ceil((from - zero) / step) * step + zero; at <= new Date(data.to).getTime(); at += step) {
    all.push({ at: (at - from) / 1000 / data.pictures.bucketSeconds, text: hours >= 24 ? day(new Date(at)) : clock(new Date(at)) })
  }
  return all
}

const lines = () => {
  const p = data.pictures
  only('lines', p && p.workloads.length > 0)
  if (!p || p.workloads.length === 0) return
  put('lines-under', `A bucket of ${span(p.bucketSeconds)} shows its lowest and its highest replica count.`
    + (p.otherWorkloads > 0 ? ` ${count(p.otherWorkloads, 'more workload')} ${p.otherWorkloads === 1 ? 'is' : 'are'} not drawn.` : ''))
  const option = (value, text) => node('option', { value }, text)
  const full = text => { const w = named(text); return w.namespace + '/' + w.name + (w.kind === 'deployment' ? '' : ' ' + w.kind) }
  const policies = [...candidates].sort((a, b) => rank(a) - rank(b)).map(c => option(c.i, c.name + (c.recommended ? ' (recommended)' : '')))
  put('lines-workload', p.workloads.map((w, i) => option(i, full(w))))
  put('lines-policy', policies)
  put('lines-second', option(-1, 'no other'), policies.map(p => p.cloneNode(true)))
  const chosen = { workload: 0, policy: Number(policies[0].value), second: -1 }
  const marks = dayTicks()
  const draw = width => {
    const { workload, policy, second } = chosen
    const both = [policy, second].filter(i => i >= 0).map((i, n) => ({ line: p.levels[i][workload], second: n === 1, name: candidates[i].name }))
    const label = `Pods of ${full(p.workloads[workload])}: desired replicas, and the levels of ${both.map(b => b.name).join(' and ')}.`
    put('lines-legend', legend(['need', 'desired replicas of ' + full(p.workloads[workload])], p.needs[workload].some(([, low, high]) => low < high) && ['spread', 'lowest to highest of a bucket'], ...both.map(b => [b.second ? 'level second' : 'level', b.name])))
    return steps(width, { label, need: p.needs[workload], levels: both, buckets: p.buckets, timeTicks: marks, yTitle: 'pods' })
  }
  redraw(part('lines-chart'), draw)
  for (const id of ['workload', 'policy', 'second']) {
    part('lines-' + id).addEventListener('change', event => {
      chosen[id] = Number(event.target.value)
      part('lines-chart').replaceChildren(draw(Math.floor(part('lines-chart').clientWidth)))
    })
  }
}

const all = () => {
  const quiet = c => c.commitsPerDay
  put('candidates-under', `Worst is the lowest coverage of a replica count that lasted ${span(goSpan(data.lasting))}. Waste is the level above the desired replicas. Ticks are ${span(goSpan(data.period))} apart.`
    + (candidates.some(c => c.reviews > 0) ? ' The backtest assumes that a reviewed level change is merged at once.' : ''))
  table('candidates', {
    caption: 'Policies, the recommended one first', noun: 'policy', nouns: 'policies', hint: 'name or mark', rows: [...candidates].sort((a, b) => rank(a) - rank(b) || a.commitsPerDay - b.commitsPerDay), least: '56rem',
    text: c => [c.name, c.policy.series, c.policy.round, c.recommended && 'recommended', c.front && 'front'].filter(Boolean).join(' '),
    kinds: [{ label: 'all', test: () => true }, { label: 'the front', test: c => c.front || c.recommended }, { label: 'that cover enough', test: enough }],
    columns: [
      { title: 'Policy', width: '26%', of: c => c.name, show: c => [node('span', { class: 'name' }, c.name), ' ', c.recommended ? node('span', { class: 'mark' }, 'recommended') : c.front && node('span', { class: 'mark' }, 'front')] },
      { title: 'Commits a day', width: '15%', numeric: true, of: quiet, show: c => rough(c.commitsPerDay) },
      { title: 'Updates', width: '10%', numeric: true, of: c => c.updates, show: c => number(c.updates) },
      { title: 'Covered', width: '11%', numeric: true, down: true, of: c => c.needPodHours > 0 ? c.coverage : null, show: c => c.needPodHours > 0 ? percent(c.coverage) : '' },
      { title: 'Worst', width: '16%', down: true, of: c => c.worst ? c.worst.share : null, show: c => shareBar(c.worst ? c.worst.share : null) },
      { title: 'Waste, pod h', width: '14%', numeric: true, of: c => c.wastePodHours, show: c => number(Math.round(c.wastePodHours)) },
      { title: 'Waste', width: '8%', numeric: true, of: c => c.excess, show: c => Math.round(100 * c.excess) + ' %' },
    ],
  })
}

const closing = () => put('foot', [
  ['Samples', `${number(data.samples)}, ${span(goSpan(data.step))} apart`], ['From', stamp(data.from)], ['To', stamp(data.to)],
  ['Tick', `every ${span(goSpan(data.period))}`], ['Limits', `${percent(wants.coverage)} at worst, ${plain(wants.commitsPerDay)} commits a day`],
].map(([term, text]) => node('div', {}, node('dt', {}, term), node('dd', {}, text))))

for (const show of [opening, trade, lines, all, closing]) show()
