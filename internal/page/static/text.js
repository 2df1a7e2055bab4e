// How numbers, times and names are written. All but the names are our own text.

const whole = new Intl.NumberFormat('en-GB')
const number = n => whole.format(n)

// count writes "1 workload", "2 workloads".
const count = (n, noun, many = noun + 's') => number(n) + ' ' + (n === 1 ? noun : many)

// percent never says 100 % of what is less.
const percent = share => {
  if (share > 0.999 && share < 1) return '99.9 %'
  const digits = share === 1 || share === 0 ? 0 : 1
  return (100 * share).toFixed(digits) + ' %'
}

// rough writes a number to the digits that somebody reads.
const rough = n => n >= 100 ? number(Math.round(n)) : n >= 10 ? n.toFixed(1) : n.toFixed(2)

// span writes seconds in at most two units: "3 min 20 s", "26 h", "4 d 2 h".
const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]
const span = seconds => {
  const at = units.findIndex(([, size]) => seconds >= size)
  if (at < 0) return '0 s'
  const [unit, size] = units[at]
  const text = Math.floor(seconds / size) + ' ' + unit
  if (at + 1 === units.length) return text
  const [lesser, part] = units[at + 1]
  const rest = Math.floor(seconds % size / part)
  return rest ? text + ' ' + rest + ' ' + lesser : text
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

// known is whether the document knows a value: null and left out are alike.
const known = value => value !== null && value !== undefined
