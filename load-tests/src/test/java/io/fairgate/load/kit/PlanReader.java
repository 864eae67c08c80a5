package io.fairgate.load.kit;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.InvalidNullException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.fairgate.load.Parameters;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.NodeEvent;

/**
 * Reads a plan from YAML. A mistake is one sentence: the file, the line of a value, the key, what was found, and what was expected.
 *
 * @param given parameters that go before the file
 * @param environment the variables that headers may name, such as {@code ${KEY}}; null for a name that is not set
 */
record PlanReader(Parameters given, UnaryOperator<@Nullable String> environment) {

    private static final YAMLMapper YAML = mapper();

    private static YAMLMapper mapper() {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return YAMLMapper.builder(YAMLFactory.builder().loaderOptions(options).build())
                .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
                .enable(DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
                .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .defaultSetterInfo(JsonSetter.Value.forContentNulls(Nulls.FAIL))
                .disable(YAMLParser.Feature.EMPTY_STRING_AS_NULL)
                .addModule(new SimpleModule()
                        .addDeserializer(Duration.class, new PlanText<>(Duration.class, PlanText::duration))
                        .addDeserializer(WrittenLevel.class, new PlanText<>(WrittenLevel.class, WrittenLevel::of)))
                .build();
    }

    /** @throws IllegalArgumentException if the file cannot be read, or has a mistake */
    LoadPlan read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException("plan: " + file + " cannot be read: " + e);
        }
        String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
        try {
            requireNoAlias(text);
            WrittenPlan written = YAML.readValue(text, WrittenPlan.class);
            if (written == null) {
                throw new IllegalArgumentException(file + ": the file is empty (expected: a plan)");
            }
            return written.plan(name, given, environment);
        } catch (UnrecognizedPropertyException e) {
            String known = e.getKnownPropertyIds().stream()
                    .map(Object::toString)
                    .sorted()
                    .collect(Collectors.joining(", "));
            throw new IllegalArgumentException(where(file, e) + "unknown key (expected: one of " + known + ")");
        } catch (JsonMappingException e) {
            throw new IllegalArgumentException(where(file, e) + reason(e));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    file + line(e.getLocation()) + ": " + e.getOriginalMessage().replaceAll("\\s+", " "));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage());
        }
    }

    /** Jackson would take the name of an anchor for a text. */
    private static void requireNoAlias(String text) {
        try {
            for (Event event : new Yaml().parse(new StringReader(text))) {
                if (event instanceof AliasEvent || (event instanceof NodeEvent node && node.getAnchor() != null)) {
                    throw new IllegalArgumentException("line "
                            + (event.getStartMark().getLine() + 1)
                            + ": an anchor or alias of YAML (expected: everything written out)");
                }
            }
        } catch (YAMLException e) {
            // Jackson names the mistake.
        }
    }

    private static String reason(JsonMappingException e) {
        Throwable cause = e.getCause();
        if (cause instanceof IllegalArgumentException) {
            return String.valueOf(cause.getMessage());
        }
        if (!(e instanceof MismatchedInputException)
                || e instanceof InvalidFormatException
                || e instanceof InvalidNullException) {
            return e.getOriginalMessage();
        }
        return e.getPath().isEmpty()
                ? "this is no plan (expected: keys such as tenants, load and stages)"
                : "this is not what is expected here (expected: as in docs/load-kit.md)";
    }

    private static String where(Path file, JsonMappingException e) {
        String key = e.getPath().stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : "." + step.getFieldName())
                .collect(Collectors.joining())
                .replaceFirst("^\\.", "");
        // Of an object as a whole, Jackson knows only the end.
        boolean isOfValue = !(e instanceof UnrecognizedPropertyException || e instanceof ValueInstantiationException);
        return file + (isOfValue ? line(e.getLocation()) : "") + ": " + (key.isEmpty() ? "" : key + ": ");
    }

    private static String line(@Nullable JsonLocation at) {
        return at == null ? "" : ":" + at.getLineNr();
    }
}
