package io.fairgate.gateway.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CacheKindTest {

    @Test
    void a_jvm_before_25_gets_a_cds_archive_and_a_later_one_an_aot_cache() {
        assertThat(CacheKind.of(17)).isEqualTo(CacheKind.CDS_ARCHIVE);
        assertThat(CacheKind.of(24)).isEqualTo(CacheKind.CDS_ARCHIVE);
        assertThat(CacheKind.of(25)).isEqualTo(CacheKind.AOT_CACHE);
    }

    @Test
    void the_jvm_that_records_keeps_all_options_but_those_that_choose_a_cache() {
        List<String> options = List.of(
                "-Xmx256m",
                "-XX:AOTCache=old.aot",
                "-XX:AOTMode=on",
                "-Xshare:auto",
                "-XX:SharedArchiveFile=old.jsa",
                "-XX:ArchiveClassesAtExit=old.jsa",
                "-XX:+AutoCreateSharedArchive",
                "-XX:+UseSerialGC");
        assertThat(CacheKind.without(options)).containsExactly("-Xmx256m", "-XX:+UseSerialGC");
    }
}
