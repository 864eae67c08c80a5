package io.fairgate.gateway.start;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.gateway.lease.LeaseSettings;
import io.fairgate.gateway.log.LogFiles;
import io.fairgate.gateway.redis.BackendSettings;
import io.fairgate.gateway.trace.TraceSettings;
import io.fairgate.spring.settings.FairgateProperties;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Refuses to start with an unknown setting below {@code fairgate}: otherwise a typo could silently disable a log or a journal.
 *
 * <p>Boot's {@code ignoreUnknownFields = false} needs all names below a prefix in one class; here the starter reads some and
 * the program others. Like Boot, this does not check environment variables and system properties, because other programs set
 * such names as well: Kubernetes sets {@code FAIRGATE_PORT} if there is a service named fairgate.
 */
public final class KnownSettings implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("fairgate");

    /** The code that reads what is below this refuses unknown names of pools itself. */
    private static final List<ConfigurationPropertyName> CHECKED_ELSEWHERE =
            List.of(ConfigurationPropertyName.of(LeaseSettings.THROTTLE + ".levels"));

    private static final Set<ConfigurationPropertyName> LISTS =
            Set.of(ConfigurationPropertyName.of(ManagementSettings.PREFIX + ".hosts"));

    private static final Set<String> FOREIGN = Set.of(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);

    private static final List<ConfigurationPropertyName> KNOWN = Stream.of(
                    below(OURS, FairgateProperties.class),
                    below(OURS, BackendSettings.class),
                    below(ConfigurationPropertyName.of(ClientSettings.PREFIX), ClientSettings.class),
                    below(ConfigurationPropertyName.of(ManagementSettings.PREFIX), ManagementSettings.class),
                    below(ConfigurationPropertyName.of(LogFiles.PREFIX), LogFiles.class),
                    below(ConfigurationPropertyName.of(TraceSettings.PREFIX), TraceSettings.class),
                    below(ConfigurationPropertyName.of(LeaseSettings.PREFIX), LeaseSettings.class))
            .flatMap(names -> names)
            .sorted()
            .toList();

    private static Stream<ConfigurationPropertyName> below(ConfigurationPropertyName prefix, Class<?> settings) {
        return Arrays.stream(settings.getRecordComponents()).flatMap(setting -> names(prefix, setting));
    }

    private static Stream<ConfigurationPropertyName> names(ConfigurationPropertyName prefix, RecordComponent setting) {
        ConfigurationPropertyName name = prefix.append(DataObjectPropertyName.toDashedForm(setting.getName()));
        boolean isSection = setting.getType().getEnclosingClass() == setting.getDeclaringRecord()
                && setting.getType().isRecord();
        return isSection ? below(name, setting.getType()) : Stream.of(name);
    }

    /** @throws UnknownException naming each unknown setting, and the most similar known one */
    @Override
    public void initialize(ConfigurableApplicationContext context) {
        Set<ConfigurationPropertyName> unknown = new TreeSet<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(context.getEnvironment())) {
            boolean isForeign = source.getUnderlyingSource() instanceof PropertySource<?> named
                    && FOREIGN.contains(named.getName());
            if (!isForeign && source instanceof IterableConfigurationPropertySource all) {
                all.stream().filter(KnownSettings::isUnknown).forEach(unknown::add);
            }
        }
        if (!unknown.isEmpty()) {
            throw new UnknownException(
                    unknown.stream().map(KnownSettings::mistake).collect(Collectors.joining("\n")));
        }
    }

    /** A section without a value, such as one whose settings are all commented out, is left to the code that reads it. */
    private static boolean isUnknown(ConfigurationPropertyName found) {
        ConfigurationPropertyName name = LISTS.contains(found.getParent()) ? found.getParent() : found;
        return OURS.isAncestorOf(name)
                && CHECKED_ELSEWHERE.stream().noneMatch(known -> known.equals(name) || known.isAncestorOf(name))
                && KNOWN.stream().noneMatch(known -> known.equals(name) || name.isAncestorOf(known));
    }

    private static String mistake(ConfigurationPropertyName name) {
        return "%s: unknown setting (expected: %s)"
                .formatted(name, Suggestions.oneOf(name.subName(1).toString(), names()));
    }

    /** All known settings, without the common prefix. */
    public static List<String> names() {
        return KNOWN.stream().map(known -> known.subName(1).toString()).toList();
    }

    /** Unknown settings of the process. The message has one per line. */
    static final class UnknownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private UnknownException(String mistakes) {
            super(mistakes);
        }
    }
}
