// How the pods of a fleet come back: estimates of workloads, added up over time.

// grown returns steps [seconds, share of the need]. Between what it starts with
// and its need a workload grows by the same factor in each round of its
// autoscaler; one that gets nowhere by itself stays where it starts.
const grown = (workloads, estimate) => {
  const changes = new Map([[0, 0]])
  const add = (at, pods) => changes.set(at, (changes.get(at) || 0) + pods)
  let need = 0
  for (const w of workloads) {
    if (!known(w.coverage) || !(w.need > 0)) continue
    need += w.need
    const e = estimate(w)
    const from = Math.min(w.need, e ? e.from : w.rebuiltAt || 0)
    add(0, from)
    if (!e || e.never || from === w.need) continue
    const rounds = Math.max(1, e.rounds)
    let last = from
    for (let round = 1; round <= rounds; round++) {
      const pods = round === rounds ? w.need : Math.max(1, from) * (w.need / Math.max(1, from)) ** (round / rounds)
      add(Math.round(e.seconds * round / rounds), pods - last)
      last = pods
    }
  }
  let pods = 0
  return [...changes].sort((a, b) => a[0] - b[0]).map(([at, more]) => [at, need > 0 ? (pods += more) / need : 1])
}

// curves draws shares over time as steps.
const curves = (width, { label, all, limit }) => {
  const height = Math.max(220, Math.min(300, width * 0.55))
  const [left, right, top, bottom] = [50, 14, 10, height - 30]
  const longest = Math.max(60, ...all.map(({ steps }) => steps.at(-1)[0]))
  const unit = longest > 5400 ? 3600 : 60
  const times = ticks(longest / unit, 6)
  const x = linear(0, times.at(-1) * unit, left, width - right)
  const y = linear(0, 1, bottom, top)
  const shapes = []
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    shapes.push(stroke('rule', left, y(tick), width - right, y(tick)), words(left - 8, y(tick) + 4, percent(tick), { anchor: 'end', of: 'quiet' }))
  }
  shapes.push(stroke('limit', left, y(limit), width - right, y(limit)), stroke('base', left, bottom, width - right, bottom))
  for (const tick of times) {
    const last = tick === times.at(-1)
    if (!last && x(times.at(-1) * unit) - x(tick * unit) < 70) continue
    shapes.push(words(x(tick * unit), bottom + 18, plain(tick) + (last ? unit === 60 ? ' min' : ' h' : ''), { anchor: last ? 'end' : 'middle', of: 'quiet' }))
  }
  for (const { of, steps } of all) {
    let path = `M${left} ${bottom}`
    for (const [at, share] of steps) path += `H${x(at).toFixed(1)}V${y(Math.min(1, share)).toFixed(1)}`
    shapes.push(shape('path', { class: of, d: path + `H${width - right}` }))
  }
  return canvas(width, height, label, shapes)
}
