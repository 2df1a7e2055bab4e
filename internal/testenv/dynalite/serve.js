// Listens on a free port of loopback, prints the address, and ends with its input.
const server = require('dynalite')({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.stdin.resume().on('end', () => process.exit())
