// A table that is sorted by its headers. A long table also has a filter, and draws only
// the rows in view: all rows have the same height, which gives the place of each. In a
// narrow window, each row is a card of its own height, and more cards are drawn at the
// end of the drawn ones.

const long = 30 // rows, above which a table is long
const beyond = 12 // rows above and below those that are seen
const printed = 60 // rows of a longer table on paper, and of a step in a narrow window

// collate orders values: numbers by size, text by letters, what is unknown last
// whichever the direction.
const letters = new Intl.Collator('en', { numeric: true })
const collate = (a, b, sign) => {
  if (!known(a) || !known(b)) return known(b) - known(a)
  return sign * (typeof a === 'number' ? a - b : letters.compare(a, b))
}

// A column is {title, of: row => value to sort by, show: row => content, numeric,
// width, down: true where the first press puts the highest first, more: true where
// a long table cuts a long text until it has the focus, wide: true where the text has a
// line of its own in a card}. Without sort, the rows keep their order. The table returns
// a function that scrolls to a row and gives it the focus.
const table = (id, { caption, columns, rows, noun, nouns = noun + 's', hint = 'name or reason', text, kinds = [], sort, least = '0' }) => {
  const natural = rows.length <= long
  const state = { column: -1, sign: 1, typed: '', kind: 0, shown: rows, first: -1, last: -1, most: printed }
  const texts = new Map(rows.map(row => [row, text(row).toLowerCase()]))

  const heads = columns.map((column, i) => node('th', { scope: 'col', class: column.numeric && 'numeric' },
    node('button', { type: 'button' }, column.title, node('span', { class: 'arrow', 'aria-hidden': 'true' }))))
  const above = node('tbody', { 'aria-hidden': 'true' })
  const body = node('tbody')
  const below = node('tbody', { 'aria-hidden': 'true' })
  const element = node('table', { 'aria-rowcount': rows.length + 1 },
    node('caption', { id: id + '-caption' }, caption),
    node('colgroup', {}, columns.map(column => { const col = node('col'); col.style.width = column.width; return col })),
    node('thead', {}, node('tr', { 'aria-rowindex': 1 }, heads)), above, body, below)
  element.style.setProperty('--least', least)
  const scroll = node('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': id + '-caption' }, element)

  const status = node('p', { class: 'count', role: 'status', 'aria-live': 'polite' })
  const filter = node('input', { type: 'search', id: id + '-filter', autocomplete: 'off', spellcheck: 'false', placeholder: hint })
  const kind = kinds.length > 0 && node('select', { id: id + '-kind' }, kinds.map(({ label }, i) => node('option', { value: i }, label)))
  const controls = node('div', { class: 'controls' },
    node('label', { for: id + '-filter' }, 'Filter ' + nouns), filter,
    kind && [node('label', { for: id + '-kind' }, 'Show'), kind], status)

  const rowHeight = () => parseFloat(getComputedStyle(element).getPropertyValue('--row')) * parseFloat(getComputedStyle(document.documentElement).fontSize)

  const line = (row, i) => node('tr', { 'aria-rowindex': i + 2 }, columns.map((column, c) =>
    node(c === 0 ? 'th' : 'td', { scope: c === 0 && 'row', class: [column.numeric && 'numeric', (column.more || column.wide) && 'wide'].filter(Boolean).join(' '), 'data-title': column.title }, node('div', { class: column.more && !natural && 'more', tabindex: column.more && !natural && -1 }, column.show(row)))))
  const room = (rows, height) => {
    if (rows === 0) return []
    const tr = node('tr', {}, node('td', { colspan: columns.length, class: 'room' }))
    tr.style.height = rows * height + 'px'
    return [tr]
  }

  const draw = () => {
    const height = rowHeight()
    const all = state.shown.length
    const whole = natural || onPaper() || narrow.matches
    const first = whole ? 0 : Math.max(0, Math.floor(scroll.scrollTop / height) - beyond)
    const last = Math.min(all, whole ? (onPaper() ? printed : state.most) : first + 2 * beyond + Math.ceil(scroll.clientHeight / height))
    if (first === state.first && last === state.last) return
    const held = focus()
    state.first = first
    state.last = last
    above.replaceChildren(...room(first, height))
    body.replaceChildren(...state.shown.slice(first, last).map((row, i) => line(row, first + i)))
    below.replaceChildren(...room(whole ? 0 : all - last, height))
    if (held) (link(held) || cut(held.row, held.column) || scroll).focus({ preventScroll: true })
  }

  // What is cut is read whole while it has the focus, which outlives that its row is
  // drawn anew.
  const cut = (row, column) => { const tr = row >= state.first && row < state.last && body.rows[row - state.first]; return tr && tr.cells[column].querySelector('.more') }
  const focus = () => {
    const cell = body.contains(document.activeElement) && document.activeElement.closest('td, th')
    return cell && { row: Number(cell.parentNode.getAttribute('aria-rowindex')) - 2, column: cell.cellIndex, link: [...cell.querySelectorAll('a')].indexOf(document.activeElement) }
  }
  const link = held => { const cell = cut(held.row, held.column); return cell && cell.querySelectorAll('a')[held.link] }
  // inView scrolls as little as shows a row whole, below the head that stays.
  const inView = tr => {
    const [seen, box] = [scroll.getBoundingClientRect(), tr.getBoundingClientRect()]
    const head = seen.top + element.tHead.offsetHeight
    if (box.top < head) scroll.scrollTop -= head - box.top
    else if (box.bottom > seen.bottom) scroll.scrollTop += Math.min(box.bottom - seen.bottom, box.top - head)
  }

  const tell = () => {
    const all = rows.length
    const some = state.shown.length
    const cut = onPaper() && some > printed ? `, the first ${number(printed)} of them printed` : ''
    status.textContent = (some === all ? count(all, noun, nouns) : `${number(some)} of ${count(all, noun, nouns)}`) + cut
    element.setAttribute('aria-rowcount', some + 1)
  }

  const again = () => {
    state.first = -1
    tell()
    draw()
  }

  const choose = () => {
    const words = state.typed.toLowerCase().split(/\s+/).filter(Boolean)
    const test = kinds.length > 0 ? kinds[state.kind].test : () => true
    state.shown = rows.filter(row => test(row) && words.every(word => texts.get(row).includes(word)))
    const column = columns[state.column]
    if (column) {
      const values = new Map(state.shown.map(row => [row, column.of(row)]))
      state.shown.sort((a, b) => collate(values.get(a), values.get(b), state.sign))
    }
    scroll.scrollTop = 0
    state.most = printed
    again()
  }

  const order = (i, sign) => {
    state.column = i
    state.sign = sign
    heads.forEach((head, h) => {
      if (h === i) head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending')
      else head.removeAttribute('aria-sort')
    })
    choose()
  }

  heads.forEach((head, i) => head.firstChild.addEventListener('click', () => {
    order(i, state.column === i ? -state.sign : columns[i].down ? -1 : 1)
  }))
  filter.addEventListener('input', () => { state.typed = filter.value; choose() })
  if (kind) kind.addEventListener('change', () => { state.kind = Number(kind.value); choose() })
  scroll.addEventListener('scroll', () => {
    if (narrow.matches && scroll.scrollTop + 2 * scroll.clientHeight > scroll.scrollHeight) state.most = Math.min(state.most, state.shown.length) + printed
    requestAnimationFrame(draw)
  }, { passive: true })
  new ResizeObserver(draw).observe(scroll)
  turned(again)
  narrow.addEventListener('change', again)
  // What is cut is read whole by a press on it, or by Enter and the arrows.
  scroll.addEventListener('keydown', event => {
    const held = focus()
    const first = () => {
      const head = scroll.getBoundingClientRect().top + element.tHead.offsetHeight
      return [...body.querySelectorAll('.more')].find(cell => cell.getBoundingClientRect().top >= head - rowHeight() / 2)
    }
    const to = held ? { ArrowDown: cut(held.row + 1, held.column), ArrowUp: cut(held.row - 1, held.column), Escape: scroll }[event.key]
      : event.key === 'Enter' && event.target === scroll && first()
    if (!to) return
    event.preventDefault()
    to.focus({ preventScroll: true })
    if (to !== scroll) { inView(to.closest('tr')); draw() }
  })

  part(id).classList.toggle('natural', natural)
  put(id, !natural && controls, scroll)
  if (sort) order(sort.column, sort.sign)
  else choose()

  return row => {
    if (!state.shown.includes(row)) {
      filter.value = state.typed = ''
      choose()
    }
    const i = state.shown.indexOf(row)
    state.most = Math.max(state.most, i + 1)
    if (!natural) scroll.scrollTop = i * rowHeight()
    draw()
    const head = body.rows[i - state.first].cells[0]
    head.tabIndex = -1
    head.focus()
  }
}
