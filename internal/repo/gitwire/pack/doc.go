// Package pack contains git's objects: their formats, packs, and the objects in memory.
package pack
