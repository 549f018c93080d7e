package headwater;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeMap$;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.SinglePartition$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.arrow.ArrowBatchStreamWriter;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.Some;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.BigInt;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractPartialFunction;

/**
 * A statement that Spark has analysed, optimised and planned once, and that runs again and again over other rows.
 *
 * Its leaves stand for rows that come later: Spark knows their columns and that they lie on one partition, and nothing
 * else, so that no plan is right only for the rows of one step. To run is to exchange the leaves for rows and to
 * execute a copy, as one task on the thread that asks: for a few rows a job takes longer than its task.
 *
 * Compiled by the compiler that Spark has on board for its own code, which knows neither lambdas nor type parameters.
 */
public final class KeptPlan {
    /** The size that Spark takes a leaf for; where no join is broadcast it decides nothing. */
    private static final long SIZE = 1 << 20;

    /** So many rows are written in one piece. */
    private static final long BATCH_ROWS = 10000L;

    /** Whether a union of branches that are partitioned alike is partitioned like them. */
    private static final String UNION_KEEPS = "spark.sql.unionOutputPartitioning";

    /** The last number of a task; far below zero, where none of Spark's own are. */
    private static final AtomicLong TASKS = new AtomicLong(-1L << 32);

    private SparkSession session;
    private String zone;
    private final List leaves = new ArrayList();
    private final List schemas = new ArrayList();
    private final List projections = new ArrayList();
    private SparkPlan plan;
    private StructType result;
    private boolean isOneTask = true;
    private boolean hasConstants = false;
    private volatile TaskContextImpl task;

    /** The session it is planned and run in. */
    public KeptPlan on(Object session) {
        this.session = (SparkSession) session;
        this.zone = this.session.sessionState().conf().sessionLocalTimeZone();
        // Whoever asks has asked in this session before; projections and nodes are made for the one that is active.
        SparkSession.setActiveSession(this.session);
        return this;
    }

    /** One more view whose rows come later, with columns as Spark writes them in JSON. */
    public void leaf(String view, String columns) {
        StructType schema = (StructType) DataType.fromJson(columns);
        RDD rows = rows(new ArrayList());
        Statistics size = new Statistics(
            BigInt.apply(SIZE), Option.empty(), AttributeMap$.MODULE$.empty(), false);
        LogicalRDD leaf = new LogicalRDD(
            DataTypeUtils$.MODULE$.toAttributes(schema), rows, SinglePartition$.MODULE$, seq(new ArrayList()), false,
            Option.empty(), this.session, new Some(size), Option.empty());
        Dataset$.MODULE$.ofRows(this.session, leaf).createOrReplaceTempView(view);
        this.leaves.add(Integer.valueOf(rows.id()));
        this.schemas.add(schema);
        this.projections.add(UnsafeProjection.create(schema));
    }

    /** One more view, made from views that are there. */
    public void view(String view, String text) {
        this.session.sql(text).createOrReplaceTempView(view);
    }

    /** Plan a statement and call its columns by names, if there are any; false if the plan is not to be kept. */
    public boolean plan(String text, List names) {
        Dataset frame = (Dataset) this.session.sql(text);
        if (!names.isEmpty()) {
            frame = (Dataset) frame.toDF(seq(names));
        }
        this.result = frame.schema();
        this.plan = (SparkPlan) planned(frame).transformUp(new Gather());
        return this.plan.subqueriesAll().isEmpty() && look(this.plan);
    }

    /**
     * Spark's plan, with a shuffle above every union that needs one. A union of branches that are partitioned alike
     * needs none, but whether they are is asked again when it runs, and then what gathers rows is no longer a shuffle.
     */
    private SparkPlan planned(Dataset frame) {
        this.session.conf().set(UNION_KEEPS, "false");
        try {
            return frame.queryExecution().executedPlan();
        } finally {
            this.session.conf().unset(UNION_KEEPS);
        }
    }

    /** See what a plan is made of: its rows come from our leaves, or stand in its text, and lie where they must. */
    private boolean look(SparkPlan node) {
        if (node.getClass().getName().contains(".execution.python.")) {
            this.isOneTask = false;
        }
        List below = CollectionConverters.asJava(node.children());
        List wanted = CollectionConverters.asJava(node.requiredChildDistribution());
        for (int child = 0; child < below.size(); child++) {
            Distribution each = (Distribution) wanted.get(child);
            if (!((SparkPlan) below.get(child)).outputPartitioning().satisfies(each)) {
                return false;
            }
        }
        if (node instanceof LocalTableScanExec) {
            this.hasConstants = true;
            return true;
        }
        if (below.isEmpty()) {
            return node instanceof RDDScanExec && number((RDDScanExec) node) >= 0;
        }
        for (int child = 0; child < below.size(); child++) {
            if (!look((SparkPlan) below.get(child))) {
                return false;
            }
        }
        return true;
    }

    /** The columns of what it finds, as Spark writes them in JSON. */
    public String columns() {
        return this.result.json();
    }

    /** Run it over the rows in a file, one stream of Arrow for each leaf, and write what it finds to another. */
    public synchronized void run(String from, String to) throws IOException {
        Option before = SparkSession$.MODULE$.getActiveSession();
        SparkSession.setActiveSession(this.session);
        FileInputStream file = new FileInputStream(from);
        try {
            List given = new ArrayList();
            for (int leaf = 0; leaf < this.schemas.size(); leaf++) {
                given.add(rows(read(file, leaf)));
            }
            // Nodes keep what they once ran. Above an exchanged leaf all are new, above rows of the text they are not.
            SparkPlan fresh = this.hasConstants ? (SparkPlan) this.plan.clone() : this.plan;
            SparkPlan filled = (SparkPlan) fresh.transformUp(new Exchange(this, given));
            SQLExecution$.MODULE$.withSQLConfPropagated(this.session, new Run(this, filled, to));
        } finally {
            file.close();
            if (before.isDefined()) {
                SparkSession.setActiveSession((org.apache.spark.sql.SparkSession) before.get());
            } else {
                SparkSession.clearActiveSession();
            }
        }
    }

    /** Let a run that is under way end soon, with an error; for one who no longer waits for it. */
    public void stop() {
        TaskContextImpl running = this.task;
        if (running != null) {
            running.markInterrupted("nobody waits for it");
        }
    }

    private List read(FileInputStream file, int leaf) {
        UnsafeProjection projection = (UnsafeProjection) this.projections.get(leaf);
        Iterator batches = ArrowConverters$.MODULE$.getBatchesFromStream(file.getChannel());
        Iterator read = ArrowConverters$.MODULE$.fromBatchIterator(
            batches, (StructType) this.schemas.get(leaf), this.zone, true, false, null);
        List rows = new ArrayList();
        while (read.hasNext()) {
            rows.add(projection.apply((InternalRow) read.next()).copy());
        }
        return rows;
    }

    private void write(SparkPlan filled, String to) throws IOException {
        FileOutputStream file = new FileOutputStream(to);
        try {
            ArrowBatchStreamWriter stream = new ArrowBatchStreamWriter(this.result, file, this.zone, true, false);
            RDD rows = this.isOneTask ? filled.execute() : null;
            if (rows == null || isShuffled(rows)) {
                List found = Arrays.asList(filled.executeCollect());
                add(CollectionConverters.asScala(found.iterator()), stream, null);
            } else {
                for (int partition = 0; partition < rows.partitions().length; partition++) {
                    addHere(rows, partition, stream);
                }
            }
            stream.end();
        } finally {
            file.close();
        }
    }

    private void add(Iterator rows, ArrowBatchStreamWriter stream, TaskContext task) {
        stream.writeBatches(ArrowConverters$.MODULE$.toBatchIterator(
            rows, this.result, BATCH_ROWS, this.zone, true, false, task));
    }

    /** Compute a partition on this thread, with what Spark gives to a task. */
    private void addHere(RDD rows, int partition, ArrowBatchStreamWriter stream) {
        long number = TASKS.decrementAndGet();
        SparkEnv spark = SparkEnv.get();
        TaskMemoryManager memory = new TaskMemoryManager(spark.memoryManager(), number);
        this.task = new TaskContextImpl(
            -1, 0, partition, number, 0, 1, memory, rows.context().getLocalProperties(), spark.metricsSystem(),
            new TaskMetrics(), 1, Map$.MODULE$.empty());
        try {
            TaskContext$.MODULE$.setTaskContext(this.task);
            spark.blockManager().registerTask(number);
            add(rows.iterator(rows.partitions()[partition], this.task), stream, this.task);
            this.task.markTaskCompleted(Option.empty());
        } catch (Throwable problem) {
            this.task.markTaskFailed(problem);
            this.task.markTaskCompleted(new Some(problem));
            throw problem;
        } finally {
            this.task = null;
            spark.blockManager().releaseAllLocksForTask(number);
            memory.cleanUpAllAllocatedMemory();
            TaskContext$.MODULE$.unset();
        }
    }

    /** True if some of the rows would have to be shuffled first: only Spark's scheduler does that. */
    private static boolean isShuffled(RDD rows) {
        List needed = CollectionConverters.asJava(rows.dependencies());
        for (int at = 0; at < needed.size(); at++) {
            Dependency one = (Dependency) needed.get(at);
            if (one instanceof ShuffleDependency || isShuffled(one.rdd())) {
                return true;
            }
        }
        return false;
    }

    /** Rows on one partition, also if there are none: a sum over nothing has its row. */
    private RDD rows(List rows) {
        return this.session.sparkContext().parallelize(seq(rows), 1, ClassTag$.MODULE$.apply(InternalRow.class));
    }

    private static Seq seq(List of) {
        return CollectionConverters.asScala(of).toSeq();
    }

    /** Which leaf a scan is; -1 if it is none of ours. */
    int number(RDDScanExec scan) {
        return this.leaves.indexOf(Integer.valueOf(scan.rdd().id()));
    }

    /** Brings rows together by reading one partition after the other, in the place of a shuffle into one. */
    private static final class Gather extends AbstractPartialFunction {
        public boolean isDefinedAt(Object node) {
            return node instanceof ShuffleExchangeExec
                && ((ShuffleExchangeExec) node).outputPartitioning().numPartitions() == 1;
        }

        public Object applyOrElse(Object node, Function1 otherwise) {
            return isDefinedAt(node)
                ? new CoalesceExec(1, ((ShuffleExchangeExec) node).child())
                : otherwise.apply(node);
        }
    }

    /** Puts rows in the place of leaves. */
    private static final class Exchange extends AbstractPartialFunction {
        private final KeptPlan kept;
        private final List given;

        Exchange(KeptPlan kept, List given) {
            this.kept = kept;
            this.given = given;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof RDDScanExec;
        }

        public Object applyOrElse(Object node, Function1 otherwise) {
            if (!isDefinedAt(node)) {
                return otherwise.apply(node);
            }
            RDDScanExec scan = (RDDScanExec) node;
            RDD rows = (RDD) this.given.get(this.kept.number(scan));
            return new RDDScanExec(
                scan.output(), rows, scan.name(), scan.outputPartitioning(), scan.outputOrdering(), scan.stream());
        }
    }

    /** Runs a plan whose leaves have rows. */
    private static final class Run extends AbstractFunction0 {
        private final KeptPlan kept;
        private final SparkPlan filled;
        private final String to;

        Run(KeptPlan kept, SparkPlan filled, String to) {
            this.kept = kept;
            this.filled = filled;
            this.to = to;
        }

        public Object apply() {
            try {
                this.kept.write(this.filled, this.to);
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
            return null;
        }
    }
}
