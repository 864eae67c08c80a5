package io.fairgate.gateway.cli;

import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.Warning;
import io.fairgate.spring.policyfile.PolicyReload;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The formats of the results of {@code check}. */
enum CheckFormat {

    /** A line for each mistake and each warning, as the log of a gateway has them, and one for each file that is accepted. */
    TEXT {
        @Override
        void write(List<CheckedFile> files, PrintWriter out) {
            for (CheckedFile file : files) {
                file.mistakes().forEach(out::println);
                file.warnings().forEach(out::println);
                if (file.isAccepted()) {
                    out.printf("%s: ok (%s)%n", file.file(), file.contents());
                } else if (file.mistakes().isEmpty()) {
                    out.printf(
                            "%s: %s (expected: none, because of --strict)%n",
                            file.file(), PolicyReload.count(file.warnings().size(), "warning"));
                }
            }
        }
    },

    /** One object for programs. */
    JSON {
        @Override
        void write(List<CheckedFile> files, PrintWriter out) {
            out.println(JsonMapper.builder()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .build()
                    .writeValueAsString(Map.of(
                            "files", files.stream().map(CheckFormat::json).toList())));
        }
    },

    /**
     * Annotations of a workflow of GitHub Actions. The characters that are escaped are those of
     * <a href="https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts">its toolkit</a>.
     */
    GITHUB {
        @Override
        void write(List<CheckedFile> files, PrintWriter out) {
            for (CheckedFile file : files) {
                for (Mistake mistake : file.mistakes()) {
                    out.println(annotation(
                            "error",
                            file.file(),
                            mistake.line(),
                            mistake.key(),
                            "%s (expected: %s)".formatted(mistake.found(), mistake.expected())));
                }
                for (Warning warning : file.warnings()) {
                    out.println(annotation(
                            file.isStrict() ? "error" : "warning",
                            file.file(),
                            warning.line(),
                            warning.key(),
                            warning.text()));
                }
            }
        }
    };

    abstract void write(List<CheckedFile> files, PrintWriter out);

    private static Map<String, Object> json(CheckedFile file) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", file.file());
        json.put("accepted", file.isAccepted());
        json.put("contents", file.contents());
        json.put("mistakes", file.mistakes().stream().map(CheckFormat::json).toList());
        json.put("warnings", file.warnings().stream().map(CheckFormat::json).toList());
        return json;
    }

    private static Map<String, Object> json(Mistake mistake) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("line", mistake.line());
        json.put("key", mistake.key());
        json.put("found", mistake.found());
        json.put("expected", mistake.expected());
        return json;
    }

    private static Map<String, Object> json(Warning warning) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("line", warning.line());
        json.put("key", warning.key());
        json.put("text", warning.text());
        return json;
    }

    private static String annotation(String level, String file, int line, String title, String text) {
        return "::%s file=%s,line=%d,title=%s::%s".formatted(level, property(file), line, property(title), data(text));
    }

    private static String data(String text) {
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A");
    }

    private static String property(String text) {
        return data(text).replace(":", "%3A").replace(",", "%2C");
    }
}
