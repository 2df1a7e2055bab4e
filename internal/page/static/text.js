// How numbers, times and names are written. All but the names are our own text.

const whole = new Intl.NumberFormat('en-GB')
const number = n => whole.format(n)

// count writes "1 workload", "2 workloads".
const count = (n, noun, many = noun + 's') => number(n) + ' ' + (n === 1 ? noun : many)

// percent prints a share as term.Percent does in tables: it rounds down, and only a
// share of 1 or more is 100 % or more.
const percent = share => {
  const tenths = Math.floor(1000 * share + 1e-9) // 0.29 has no binary fraction
  return (share < 1 ? Math.min(tenths, 999) : tenths) / 10 + '\u00a0%'
}

// rough writes a number to the digits that somebody reads.
const rough = n => n === 0 ? '0' : n >= 100 ? number(Math.round(n)) : n >= 10 ? n.toFixed(1) : n.toFixed(2)

// span writes seconds in two units at most, and in one where that is enough:
// "3 min 20 s", "22 min", "4 d 2 h". With most = 1, it writes one unit: "4 d".
const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]
const span = (seconds, most = 2) => {
  const at = units.findIndex(([, size]) => seconds >= size)
  if (at < 0) return '0 s'
  const [unit, size] = units[at]
  const text = Math.floor(seconds / size) + '\u00a0' + unit
  if (most === 1 || at + 1 === units.length || seconds / size >= 10) return text
  const [lesser, part] = units[at + 1]
  const rest = Math.floor(seconds % size / part)
  return rest ? text + '\u00a0' + rest + '\u00a0' + lesser : text
}

// goSpan reads a span as Go writes it, "26h0m0s", and returns seconds.
const goSpan = text => {
  let seconds = 0
  for (const [, n, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) {
    seconds += Number(n) * { h: 3600, m: 60, s: 1, ms: 0.001 }[unit]
  }
  return seconds
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = n => String(n).padStart(2, '0')
const day = at => at.getUTCDate() + ' ' + months[at.getUTCMonth()]
const clock = at => two(at.getUTCHours()) + ':' + two(at.getUTCMinutes())
const date = text => { const at = new Date(text); return day(at) + ' ' + at.getUTCFullYear() }
const stamp = text => date(text) + ', ' + clock(new Date(text)) + ' UTC'

const short = commit => commit.slice(0, 10)

// called is what a list of names has for a key, which may be any text at all.
const called = (names, key) => Object.hasOwn(names, key) ? names[key] : undefined

// known is whether the document knows a value: null and left out are alike.
const known = value => value !== null && value !== undefined
