// How the pods of a fleet come back: estimates of workloads, added up over time.

const constant = (model, name, otherwise) => { const found = model.constants.find(c => c.name === name); return found ? found.value : otherwise }

// grown returns steps [seconds, share of the need], by the model of the document:
// what a workload starts with is ready after podStart, and from round to round of
// its autoscaler there is growth times as much, until its need is there. One that
// gets nowhere by itself stays where it starts.
const grown = (workloads, estimate, model) => {
  const growth = constant(model, 'growth', 2)
  const changes = new Map([[0, 0]])
  const add = (at, pods) => changes.set(at, (changes.get(at) || 0) + pods)
  let need = 0
  for (const w of workloads) {
    if (!known(w.coverage) || !(w.need > 0)) continue
    need += w.need
    const e = estimate(w) || { from: w.start.atLeast, rounds: 0, seconds: 0 }
    const ready = e.never || e.rounds > 0 ? constant(model, 'podStart', 0) : e.seconds
    let last = Math.min(w.need, e.from)
    add(ready, last)
    for (let round = 1; round <= e.rounds && !e.never; round++) {
      const pods = Math.min(w.need, e.from * growth ** round)
      add(Math.round(ready + (e.seconds - ready) * round / e.rounds), pods - last)
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
