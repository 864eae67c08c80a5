package io.fairgate.gateway.start;

import io.fairgate.gateway.log.LogFiles;

import io.fairgate.config.yaml.Nearest;
import io.fairgate.gateway.lease.LeaseSettings;
import io.fairgate.spring.settings.FairgateProperties;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
 * Refuses to start with a setting below {@code fairgate} that nobody reads: it would leave a log or a journal out, and say
 * nothing.
 *
 * <p>Boot's {@code ignoreUnknownFields = false} wants all names below a prefix in one class; here the starter reads some,
 * the program others. Like Boot it asks neither environment variables nor system properties, because other programs
 * name theirs so as well: Kubernetes sets {@code FAIRGATE_PORT} where there is a service of that name.
 */
public final class KnownSettings implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("fairgate");

    /** Of the starter, which refuses what it does not know there itself. */
    private static final ConfigurationPropertyName POLICY = OURS.append("policy");

    /** Below it are names of pools; their reader refuses what is none. */
    private static final ConfigurationPropertyName LEVELS =
            ConfigurationPropertyName.of(LeaseSettings.THROTTLE + ".levels");

    private static final Set<String> FOREIGN = Set.of(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);

    private static final List<ConfigurationPropertyName> KNOWN = Stream.of(
                    below(OURS, FairgateProperties.class),
                    below(ConfigurationPropertyName.of(LogFiles.PREFIX), LogFiles.class),
                    below(ConfigurationPropertyName.of(LeaseSettings.PREFIX), LeaseSettings.class),
                    Stream.of(OURS.append("watch-policy")))
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

    /** @throws UnknownSettingException naming each, and the nearest that there is */
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
            throw new UnknownSettingException(
                    unknown.stream().map(KnownSettings::mistake).toList());
        }
    }

    /** A section by itself, such as one whose settings are all commented out, is for its reader to judge. */
    private static boolean isUnknown(ConfigurationPropertyName name) {
        return OURS.isAncestorOf(name)
                && !name.equals(POLICY)
                && !POLICY.isAncestorOf(name)
                && !LEVELS.isAncestorOf(name)
                && KNOWN.stream().noneMatch(known -> known.equals(name) || name.isAncestorOf(known));
    }

    private static String mistake(ConfigurationPropertyName name) {
        return "%s: unknown setting (expected: %s)"
                .formatted(name, Nearest.oneOf(name.subName(1).toString(), names()));
    }

    /** Every one, without what all begin with. */
    public static List<String> names() {
        return KNOWN.stream().map(known -> known.subName(1).toString()).toList();
    }
}
