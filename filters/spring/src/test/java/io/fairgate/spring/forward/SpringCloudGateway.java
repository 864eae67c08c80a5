package io.fairgate.spring.forward;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.type.ClassMetadata;
import org.springframework.core.type.classreading.CachingMetadataReaderFactory;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.filter.AssignableTypeFilter;
import org.springframework.util.ClassUtils;

/** What the class path has of Spring Cloud Gateway. */
final class SpringCloudGateway {

    private static final String CLASSES = "classpath*:org/springframework/cloud/gateway/**/*.class";

    private SpringCloudGateway() {}

    /** The simple names of all top-level classes of this type, also of those whose libraries are missing. */
    static Set<String> classes(Class<?> type) throws IOException {
        var readers = new CachingMetadataReaderFactory();
        var ofType = new AssignableTypeFilter(type);
        Set<String> names = new TreeSet<>();
        for (Resource resource : new PathMatchingResourcePatternResolver().getResources(CLASSES)) {
            MetadataReader reader = readers.getMetadataReader(resource);
            ClassMetadata found = reader.getClassMetadata();
            if (found.isConcrete() && !found.hasEnclosingClass() && ofType.match(reader, readers)) {
                names.add(ClassUtils.getShortName(found.getClassName()));
            }
        }
        return names;
    }
}
