package io.fairgate.load.kit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The stages of a run, one after the other. */
final class Schedule {

    private final List<Stage> stages;
    /** When each stage begins, and when the last one ends. */
    private final List<Duration> starts = new ArrayList<>();

    Schedule(List<Stage> stages) {
        this.stages = List.copyOf(stages);
        Duration at = Duration.ZERO;
        starts.add(at);
        for (Stage stage : stages) {
            at = at.plus(stage.length());
            starts.add(at);
        }
    }

    List<Stage> stages() {
        return stages;
    }

    Duration length() {
        return startOf(stages.size());
    }

    /** When this stage begins, after the start of the run; for their number, when the last one ends. */
    Duration startOf(int stage) {
        return starts.get(stage);
    }

    /** The index of the stage at this time after the start; their number when the run is over. */
    int stageAt(Duration time) {
        int stage = 0;
        while (stage < stages.size() && time.compareTo(starts.get(stage + 1)) >= 0) {
            stage++;
        }
        return stage;
    }

    /** The part of the plan's load at this time after the start; 0 when the run is over. */
    double levelAt(Duration time) {
        int stage = stageAt(time);
        return stage == stages.size() ? 0 : stages.get(stage).levelAfter(time.minus(starts.get(stage)));
    }

    /** How long the level stays as it is at this time; a short time while it changes. */
    Duration untilChange(Duration time) {
        int stage = stageAt(time);
        boolean isSteady = stage == stages.size()
                || stages.get(stage).from() == stages.get(stage).to();
        Duration next = starts.get(Math.min(stage + 1, stages.size())).minus(time);
        return isSteady && !next.isNegative() ? next : Stage.SHORT;
    }
}
