import java.lang.reflect.*;
public class Run {
  static long cpu() { return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime(); }
  public static void main(String[] a) throws Throwable {
    Class<?> c = Class.forName(a[0]);
    for (Method m : c.getDeclaredMethods()) {
      if (!m.isAnnotationPresent(org.junit.jupiter.api.Test.class)) continue;
      if (a.length > 1 && !m.getName().matches(a[1])) continue;
      m.setAccessible(true);
      Constructor<?> k = c.getDeclaredConstructor(); k.setAccessible(true);
      long c0 = cpu(); long t = System.nanoTime();
      try { m.invoke(k.newInstance()); System.out.println("OK   " + m.getName() + " " + (System.nanoTime()-t)/1000000 + " ms, cpu " + (cpu()-c0)/1000000); }
      catch (InvocationTargetException e) { System.out.println("FAIL " + m.getName() + " " + (System.nanoTime()-t)/1000000 + " ms, cpu " + (cpu()-c0)/1000000); 
        java.io.StringWriter w = new java.io.StringWriter(); e.getCause().printStackTrace(new java.io.PrintWriter(w)); String s = w.toString(); System.out.println(s.substring(0, Math.min(6000, s.length()))); }
    }
    System.exit(0);
  }
}
