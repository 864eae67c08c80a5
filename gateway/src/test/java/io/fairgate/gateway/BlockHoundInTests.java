package io.fairgate.gateway;

import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;
import reactor.blockhound.BlockHound;

/**
 * Installs BlockHound in a JVM before its first test. Only where the property is set: Surefire also has a launcher of tests
 * in the JVM of Maven, where BlockHound cannot be installed.
 */
public final class BlockHoundInTests implements TestExecutionListener {

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (Boolean.getBoolean("fairgate.blockhound")) {
            BlockHound.install();
        }
    }
}
