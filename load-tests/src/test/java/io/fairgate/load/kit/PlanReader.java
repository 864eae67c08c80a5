package io.fairgate.load.kit;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.fairgate.load.Parameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;

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
                .enable(com.fasterxml.jackson.databind.MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
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
            Throwable cause = e.getCause();
            throw new IllegalArgumentException(where(file, e)
                    + (cause instanceof IllegalArgumentException ? cause.getMessage() : e.getOriginalMessage()));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    file + line(e.getLocation()) + ": " + e.getOriginalMessage().replaceAll("\\s+", " "));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage());
        }
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
