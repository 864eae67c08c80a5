package io.fairgate.load.kit;

import java.time.Duration;
import java.util.List;

/** The stages of a run, one after the other. */
record Schedule(List<Stage> stages) {

    Schedule {
        stages = List.copyOf(stages);
    }

    Duration length() {
        return startOf(stages.size());
    }

    /** When this stage begins, after the start of the run; for their number, when the last one ends. */
    Duration startOf(int stage) {
        return stages.subList(0, stage).stream().map(Stage::length).reduce(Duration.ZERO, Duration::plus);
    }

    /** The index of the stage at this time after the start; their number when the run is over. */
    int stageAt(Duration time) {
        int stage = 0;
        while (stage < stages.size() && time.compareTo(startOf(stage + 1)) >= 0) {
            stage++;
        }
        return stage;
    }

    /** The part of the plan's load at this time after the start; 0 when the run is over. */
    double levelAt(Duration time) {
        int stage = stageAt(time);
        return stage == stages.size() ? 0 : stages.get(stage).levelAfter(time.minus(startOf(stage)));
    }
}
