// Package anomaly tells what is out of the ordinary: of a workload's scale and
// rollout, by what was seen of it now and in the past half hour, by the metrics
// of its autoscaler, and by the little that its latch remembers.
//
// Each kind is a row of a table, which sees one of four things: nothing, the
// thing itself, not enough to begin an episode and too much to end one, or that
// it cannot be known. What begins is an episode; it is raised once it has lasted
// for the row's hold, and over when the row sees nothing of it. What cannot be
// known begins nothing, raises nothing and ends nothing.
//
// It is pure, and changes what a latch remembers only where an episode begins,
// is raised or ends, or a habit shows: a quiet look writes nothing.
package anomaly
