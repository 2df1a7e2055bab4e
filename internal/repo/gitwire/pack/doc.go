// Package pack contains git's objects: their formats, the packs that carry them, and those
// that are in memory.
package pack
