package headwater;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeMap$;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.plans.physical.SinglePartition$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
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

    /** The session it is planned and run in. */
    public KeptPlan on(Object session) {
        this.session = (SparkSession) session;
        this.zone = this.session.sessionState().conf().sessionLocalTimeZone();
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
        this.plan = (SparkPlan) frame.queryExecution().executedPlan().transformUp(new Gather());
        return this.plan.subqueriesAll().isEmpty() && look(this.plan);
    }

    /** See what a plan is made of: it can be kept if its rows come from our leaves, or stand in its text. */
    private boolean look(SparkPlan node) {
        if (node instanceof ShuffleExchangeExec || node.getClass().getName().contains(".execution.python.")) {
            this.isOneTask = false;
        }
        List below = CollectionConverters.asJava(node.children());
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
    public void run(String from, String to) throws Exception {
        SparkSession.setActiveSession(this.session);
        List given = new ArrayList();
        FileInputStream file = new FileInputStream(from);
        try {
            for (int leaf = 0; leaf < this.schemas.size(); leaf++) {
                given.add(rows(read(file, leaf)));
            }
        } finally {
            file.close();
        }
        // Nodes keep what they once ran. Above an exchanged leaf all of them are new, above rows of the text they are not.
        SparkPlan fresh = this.hasConstants ? (SparkPlan) this.plan.clone() : this.plan;
        SparkPlan filled = (SparkPlan) fresh.transformUp(new Exchange(this, given));
        List found = (List) SQLExecution$.MODULE$.withSQLConfPropagated(
            this.session, new Found(filled, this.isOneTask));
        write(found, to);
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

    private void write(List found, String to) throws Exception {
        FileOutputStream file = new FileOutputStream(to);
        try {
            ArrowBatchStreamWriter stream = new ArrowBatchStreamWriter(this.result, file, this.zone, true, false);
            stream.writeBatches(ArrowConverters$.MODULE$.toBatchIterator(
                CollectionConverters.asScala(found.iterator()), this.result, BATCH_ROWS, this.zone, true, false,
                null));
            stream.end();
        } finally {
            file.close();
        }
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

    /** The rows that a plan finds. */
    private static final class Found extends AbstractFunction0 {
        private final SparkPlan plan;
        private final boolean isOneTask;

        Found(SparkPlan plan, boolean isOneTask) {
            this.plan = plan;
            this.isOneTask = isOneTask;
        }

        public Object apply() {
            return this.isOneTask ? here() : Arrays.asList(this.plan.executeCollect());
        }

        /** Run the plan on this thread, partition by partition, with what Spark gives to a task. */
        private List here() {
            RDD rows = this.plan.execute();
            List found = new ArrayList();
            for (int partition = 0; partition < rows.partitions().length; partition++) {
                add(rows, partition, found);
            }
            return found;
        }

        private void add(RDD rows, int partition, List found) {
            long number = TASKS.decrementAndGet();
            SparkEnv spark = SparkEnv.get();
            TaskMemoryManager memory = new TaskMemoryManager(spark.memoryManager(), number);
            TaskContextImpl task = new TaskContextImpl(
                -1, 0, partition, number, 0, 1, memory, rows.context().getLocalProperties(), spark.metricsSystem(),
                new TaskMetrics(), 1, Map$.MODULE$.empty());
            TaskContext$.MODULE$.setTaskContext(task);
            spark.blockManager().registerTask(number);
            try {
                Iterator here = rows.iterator(rows.partitions()[partition], task);
                while (here.hasNext()) {
                    found.add(((InternalRow) here.next()).copy());
                }
                task.markTaskCompleted(Option.empty());
            } catch (Throwable problem) {
                task.markTaskFailed(problem);
                task.markTaskCompleted(new Some(problem));
                throw problem;
            } finally {
                spark.blockManager().releaseAllLocksForTask(number);
                memory.cleanUpAllAllocatedMemory();
                TaskContext$.MODULE$.unset();
            }
        }
    }
}
