package io.fairgate.load.kit;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a run has measured, as its file has it.
 *
 * @param started in ISO 8601
 * @param seconds the length of all measured stages
 * @param all of all tenants, in the measured stages
 * @param tenants in the measured stages
 * @param timeline how many requests of each tenant, that began in each interval, ended in which way
 * @param leftOver how many requests were in flight or waited at the end; null if it is not known
 * @param knee of a step test
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record RunResult(
        String plan,
        String gateway,
        String model,
        int load,
        String started,
        double seconds,
        Figures all,
        Map<String, Figures> tenants,
        List<StageResult> stages,
        Timeline timeline,
        @Nullable Double leftOver,
        @Nullable Knee knee,
        List<Verdict> verdicts) {

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /**
     * One stage.
     *
     * @param loadBefore the connections, or the requests a second, at the beginning
     * @param load the same at the end
     */
    record StageResult(
            long loadBefore, long load, double seconds, boolean measured, Figures all, Map<String, Figures> tenants) {}

    /** @param answered for each tenant one number for each interval; the others are the same */
    record Timeline(
            double intervalSeconds,
            Map<String, long[]> answered,
            Map<String, long[]> refused,
            Map<String, long[]> failed) {}

    Figures of(String tenant) {
        return Objects.requireNonNull(tenants.get(tenant), tenant);
    }

    RunResult with(List<Verdict> found) {
        return new RunResult(
                plan, gateway, model, load, started, seconds, all, tenants, stages, timeline, leftOver, knee, found);
    }

    void write(Path file) throws IOException {
        Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
        JSON.writeValue(file.toFile(), this);
    }

    /**
     * Reads a file that {@link #write} has written.
     *
     * @throws IllegalArgumentException if it is no result of a run
     */
    static RunResult read(Path file) {
        try {
            RunResult result = JSON.readValue(file.toFile(), RunResult.class);
            if (result != null && result.all != null && result.tenants != null && result.stages != null) {
                return result;
            }
            throw new IllegalArgumentException(file + ": (expected: the result of a run)");
        } catch (IOException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage() + " (expected: the result of a run)");
        }
    }
}
