// Starts the Chromium that CHROMIUM names, listens on a free port of loopback,
// prints the address, and ends with its input. A request opens a page, or runs the
// body of a function of page and browser context in one that is open.
const http = require('node:http')
const { chromium } = require('playwright-core')

const open = new Map() // of pages by number
let browser

// What a page may do is to be itself: any other request is refused, and told.
const visit = async ({ html, scheme, width, height }) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Pacific/Auckland' })
  const page = await context.newPage()
  page.setDefaultTimeout(60000)
  const wrong = []
  page.on('console', message => { if (message.type() !== 'log') wrong.push(`console ${message.type()}: ${message.text()}`) })
  page.on('pageerror', error => wrong.push(`error: ${error.stack || error}`))
  page.on('crash', () => wrong.push('the page crashed'))
  await context.route('**/*', (route, request) => {
    if (request.url() === html && request.isNavigationRequest()) return route.continue()
    wrong.push(`request: ${request.method()} ${request.url()}`)
    return route.abort()
  })
  await page.goto(html, { waitUntil: 'load' })
  const id = open.size + 1
  open.set(id, { page, context, wrong })
  return id
}

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor

const answer = async ask => {
  switch (ask.what) {
    case 'open': return visit(ask)
    case 'do': {
      const { page, context } = open.get(ask.page)
      return new AsyncFunction('page', 'context', 'given', ask.script)(page, context, ask.given)
    }
    case 'wrong': return open.get(ask.page).wrong
    case 'close': return open.get(ask.page).context.close()
  }
  throw new Error(`unknown: ${ask.what}`)
}

const server = http.createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part)).on('end', async () => {
    try {
      const got = await answer(JSON.parse(Buffer.concat(parts)))
      response.end(JSON.stringify({ got }))
    } catch (error) {
      response.end(JSON.stringify({ error: String(error.stack || error) }))
    }
  })
})

const main = async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    chromiumSandbox: false,
    args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--disable-smooth-scrolling'], // a key then scrolls at once, however busy the machine is
  })
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
}
process.stdin.resume().on('end', async () => {
  server.closeAllConnections()
  if (browser) await browser.close().catch(() => {})
  process.exit()
})
main().catch(error => { console.error(error); process.exit(1) })
