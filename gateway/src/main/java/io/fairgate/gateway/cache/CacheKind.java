package io.fairgate.gateway.cache;

import java.util.List;

/** What a JVM can keep of a run for its next start, and the options for that. */
enum CacheKind {
    /** JEP 514: classes that are loaded and linked already, and profiles of their methods. */
    AOT_CACHE("aot", "AOTCacheOutput", "AOTCache", "-XX:AOTMode=on"),
    /** JEP 350: classes that are parsed and verified already. */
    CDS_ARCHIVE("jsa", "ArchiveClassesAtExit", "SharedArchiveFile", "-Xshare:on");

    private static final int FIRST_WITH_AOT_CACHE = 25;

    private final String extension;
    private final String recordOption;
    private final String useOption;
    private final String strictOption;

    CacheKind(String extension, String recordOption, String useOption, String strictOption) {
        this.extension = extension;
        this.recordOption = recordOption;
        this.useOption = useOption;
        this.strictOption = strictOption;
    }

    /** @param feature the version of the JDK, such as 17 */
    static CacheKind of(int feature) {
        return feature >= FIRST_WITH_AOT_CACHE ? AOT_CACHE : CDS_ARCHIVE;
    }

    /** The usual name of the file. */
    String fileName() {
        return "fairgate." + extension;
    }

    /** Writes the file when the JVM ends. */
    String record(String file) {
        return "-XX:" + recordOption + "=" + file;
    }

    /** Reads the file; the JVM ignores it when it does not match. */
    String use(String file) {
        return "-XX:" + useOption + "=" + file;
    }

    /** With {@link #use}: the JVM does not start when the file does not match. */
    String strict() {
        return strictOption;
    }

    /** The options of a JVM without those that choose a cache: a JVM that records a cache refuses to use another. */
    static List<String> without(List<String> jvmOptions) {
        return jvmOptions.stream().filter(option -> !choosesCache(option)).toList();
    }

    private static boolean choosesCache(String option) {
        return option.startsWith("-XX:AOT")
                || option.startsWith("-Xshare")
                || option.startsWith("-XX:SharedArchiveFile=")
                || option.startsWith("-XX:ArchiveClassesAtExit=")
                || option.endsWith("AutoCreateSharedArchive");
    }
}
