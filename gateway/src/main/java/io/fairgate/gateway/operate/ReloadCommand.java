package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.Answer;
import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code reload}: a running gateway reads its policy file again. */
@Command(
        name = "reload",
        description = "Lets a running gateway read its policy file again. The exit code is 1 when it refuses the file.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class ReloadCommand extends ManagementCommand {

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        Answer answer = gateway.call("POST", "policy", null);
        JsonNode report = answer.json();
        String result = report.path("result").asString("");
        if (result.isEmpty()) {
            throw gateway.unexpected("policy", answer);
        }
        boolean isRefused = result.equals("REFUSED");
        if (isJson) {
            out.println(answer.body());
            return isRefused ? 1 : 0;
        }
        report.path("mistakes").forEach(mistake -> fail(Table.text(mistake.asString())));
        report.path("warnings").forEach(warning -> out.println(Table.text(warning.asString())));
        out.printf(
                "%s: %s. In force: %s (SHA-256 %.12s, since %s).%n",
                report.path("file").asString(),
                isRefused
                        ? "refused; the policy before it stays in force"
                        : result.equals("UNCHANGED") ? "in force already" : "in force now",
                report.path("contents").asString(),
                report.path("sha256").asString(),
                report.path("since").asString());
        return isRefused ? 1 : 0;
    }
}
