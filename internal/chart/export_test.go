package chart

// Measured is Child with the state of the process.
var Measured = child

// MostOutput is the limit of the output of a child, in bytes.
const MostOutput = mostOutput
