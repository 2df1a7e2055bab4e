package stack

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
)

// A period is the data of an alarm's metric in one period: no value, or several.
type period []float64

// An alarmCase has the series of an alarm, and drives the alarm. The alarm is evaluated
// at the last of the periods.
type alarmCase struct {
	on     series
	rings  [][]period
	silent [][]period
}

var none period

// alarmCases are alarms of the first sample, with five minutes between ticks and a time
// limit of four minutes.
func alarmCases(d estate) map[string]alarmCase {
	site := func(metric string) series {
		return series{"gitlatch", metric, "site", d[0].parameters["Site"]}
	}
	function := func(metric string) series {
		return series{"AWS/Lambda", metric, "FunctionName", d.physical("LatchFunction")}
	}
	// Two ticks of three with data, and one of them with an event.
	repeated := func(on series) alarmCase {
		return alarmCase{on,
			[][]period{{{1}, {1}, {1}}, {{1}, {0}, {1}}, {{0}, {1}, {1, 0}}, {{0}, {3}, {1}}},
			[][]period{{{0}, {0}, {0}}, {{0}, {0}, {1}}, {{0}, {0}, {7}}, {none, none, none}, {{1}, none, none}},
		}
	}
	restores := func(metric string) series {
		return series{"AWS/Lambda", metric, "FunctionName", d.physical("RestoreFunction")}
	}
	drills := func(metric string) series {
		return series{"AWS/Lambda", metric, "FunctionName", d.physical("DrillFunction")}
	}
	// One event is enough.
	once := func(on series) alarmCase {
		return alarmCase{on, [][]period{{{1}}, {{0}, {0, 1}}}, [][]period{{{0}}, {none}, {{1}, {0}}}}
	}
	waiting := func(queue string) alarmCase {
		return alarmCase{series{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", d.physical(queue)},
			[][]period{{{1}}, {{0}, {0, 1, 0}}},
			[][]period{{{0}}, {none}, {{1}, {0}}},
		}
	}
	return map[string]alarmCase{
		"RestoresFail": {restores("Errors"),
			[][]period{{{1}}, {{0}, {0, 1}}},
			[][]period{{{0}}, {none}, {{1}, {0}}},
		},
		"RestoresSlow": {restores("Duration"),
			[][]period{{{720000}}, {{100, 800000}}},
			[][]period{{{719000}}, {none}, {{400000, 400000}}, {{900000}, {100}}},
		},
		"DrillsFail":   once(drills("Errors")),
		"DrillsAreLow": once(site("DrillBelowTarget")),
		"DrillsSlow": {drills("Duration"),
			[][]period{{{720000}}, {{100, 800000}}},
			[][]period{{{719000}}, {none}, {{400000, 400000}}, {{900000}, {100}}},
		},
		"DrillsLost":          once(drills("AsyncEventsDropped")),
		"DrillsUndelivered":   waiting("UndeliveredDrills"),
		"ReleasesUndelivered": waiting("UndeliveredReleases"),
		// It ends together with its cause, even if the queue is not empty.
		"RestoresLost": {restores("AsyncEventsDropped"),
			[][]period{{{1}}, {{0}, {0, 1}}, {none, {2}}},
			[][]period{{{0}}, {none}, {{1}, {0}}, {{3}, none}},
		},
		"HeartbeatMissing": {site("Heartbeat"),
			[][]period{{none, none, none}, {{1}, none, none, none}},
			[][]period{{{1}, {1}, {1}}, {none, none, {1}}, {none, {1}, none}, {{1}, none, none}, {{1, 1}, {1, 1}, {1, 1}}},
		},
		"TicksFail":      repeated(function("Errors")),
		"TicksThrottled": repeated(function("Throttles")),
		"TicksLost":      repeated(function("AsyncEventsDropped")),
		"PushesFail":     repeated(site("PushFailures")),
		"TicksSlow": {function("Duration"),
			[][]period{{{192000}, {1000}, {239000}}, {{200}, {1000, 193000}, {200000, 1000}}},
			[][]period{{{191000}, {191000}, {191000}}, {{1000}, {1000}, {240000}}, {{100000, 100000}, {100000, 100000}, {100000, 100000}}, {none, none, none}},
		},
		"TicksUndelivered": waiting("UndeliveredTicks"),
		"MissingPods": {site("MissingPods"),
			[][]period{{{21}, {21}, {21}, {21}, {21}, {21}}, {{21}, {900}, {30}, {21}, {5000}, {21}}},
			[][]period{{{21}, {21}, {20}, {21}, {21}, {21}}, {{20}, {20}, {20}, {20}, {20}, {20}}, {{90, 0}, {90, 0}, {90, 0}, {90, 0}, {90, 0}, {90, 0}}, {none, {90}, {90}, {90}, {90}, {90}}},
		},
		"LevelChangeOld": {site("PendingLevelChangeAgeSeconds"),
			[][]period{{{86401}, {86701}}, {{0}, {86401}, {86700}}},
			[][]period{{{86400}, {86400}}, {{86100}, {86401}}, {{86401}, {0}}, {none, none}},
		},
	}
}

// alarmsRingWhenTheyShould drives each alarm.
func alarmsRingWhenTheyShould(t *testing.T, of templates) (broken []string) {
	d := deployed(t, of, samples[0])
	cases := alarmCases(d)
	for id, r := range d.resources() {
		if at(r, "Type") != "AWS::CloudWatch::Alarm" {
			continue
		}
		say := func(format string, args ...any) {
			broken = append(broken, id+": "+fmt.Sprintf(format, args...))
		}
		c, known := cases[id]
		if !known {
			say("no case drives it")
			continue
		}
		delete(cases, id)
		p := at(r, "Properties")
		on := series{fmt.Sprint(at(p, "Namespace")), fmt.Sprint(at(p, "MetricName"))}
		for _, dimension := range list(at(p, "Dimensions")) {
			on = append(on, fmt.Sprint(at(dimension, "Name")), fmt.Sprint(at(dimension, "Value")))
		}
		if !slices.Equal(on, c.on) {
			say("is on %v, want %v", on, c.on)
		}
		for want, all := range map[bool][][]period{true: c.rings, false: c.silent} {
			for _, periods := range all {
				if got, err := rung(p, periods); err != nil || got != want {
					say("rings after %v: %v, want %v; error %v", periods, got, want, err)
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(cases)) {
		broken = append(broken, "there is no alarm "+id)
	}
	return broken
}

// rung evaluates an alarm over its periods. The given periods are the last ones, and the
// periods before them have no data.
func rung(alarm any, periods []period) (bool, error) {
	number := func(name string) (n float64) {
		n, err := strconv.ParseFloat(fmt.Sprint(at(alarm, name)), 64)
		if err != nil {
			panic(fmt.Sprintf("%s of an alarm: %v", name, err))
		}
		return n
	}
	statistic, known := statistics[fmt.Sprint(at(alarm, "Statistic"))]
	breaches, compares := comparisons[fmt.Sprint(at(alarm, "ComparisonOperator"))]
	missing, treats := map[string]bool{"breaching": true, "notBreaching": false}[fmt.Sprint(at(alarm, "TreatMissingData"))]
	if !known || !compares || !treats {
		return false, fmt.Errorf("its statistic, comparison or missing data are not known to these tests: %v", alarm)
	}
	looks := int(number("EvaluationPeriods"))
	n := 0
	for i := range looks {
		breach := missing
		if at := len(periods) - looks + i; at >= 0 && len(periods[at]) > 0 {
			breach = breaches(statistic(periods[at]), number("Threshold"))
		}
		if breach {
			n++
		}
	}
	return n >= int(number("DatapointsToAlarm")), nil
}

var statistics = map[string]func(period) float64{
	"Sum": func(p period) (sum float64) {
		for _, v := range p {
			sum += v
		}
		return sum
	},
	"Minimum": func(p period) float64 { return slices.Min(p) },
	"Maximum": func(p period) float64 { return slices.Max(p) },
	"Average": func(p period) (sum float64) {
		for _, v := range p {
			sum += v / float64(len(p))
		}
		return sum
	},
}

var comparisons = map[string]func(value, threshold float64) bool{
	"GreaterThanThreshold":          func(v, t float64) bool { return v > t },
	"GreaterThanOrEqualToThreshold": func(v, t float64) bool { return v >= t },
	"LessThanThreshold":             func(v, t float64) bool { return v < t },
	"LessThanOrEqualToThreshold":    func(v, t float64) bool { return v <= t },
}
