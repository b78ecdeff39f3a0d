import {
  DEFAULT_METRIC_CATEGORIES,
  METRIC_CATEGORIES,
  type MetricCategory,
} from "../../observability/categories.ts";
import { ok } from "../../primitives/result.ts";
import {
  bad,
  choiceType,
  hostType,
  integerType,
  listType,
  portType,
  switchType,
  textType,
  type ValueType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const common = { group: "Metrics" } as const;
const scraped = { ...common, requires: "metrics-enabled" } as const;
const pushed = { ...common, requires: "metrics-push-enabled" } as const;

/** A category of metrics, refused in Besu's words; unlike in Besu, its name may be in any case. */
const categoryType: ValueType<MetricCategory> = {
  ...choiceType(METRIC_CATEGORIES),
  accepts: METRIC_CATEGORIES.join(", "),
  read: (text) => {
    const category = METRIC_CATEGORIES.find((each) => each === text.toUpperCase());
    return category === undefined ? bad(`Unknown category: ${text}`) : ok(category);
  },
};

export const METRICS_OPTIONS = {
  "metrics-enabled": option({
    ...common,
    type: switchType,
    default: false,
    help: "Serve metrics for Prometheus at http://host:port/metrics.",
  }),
  "metrics-protocol": option({
    ...common,
    type: choiceType(["PROMETHEUS", "OPENTELEMETRY", "NONE"]),
    default: "PROMETHEUS",
    help: "NONE turns metrics off; OPENTELEMETRY is treated as PROMETHEUS.",
  }),
  "metrics-host": option({
    ...scraped,
    type: hostType,
    default: "127.0.0.1",
    help: "Address to listen on; --host-allowlist applies here, too.",
  }),
  "metrics-port": option({ ...scraped, type: portType, default: 9545, help: "Port to listen on." }),
  "metrics-category": option({
    ...common,
    type: listType(categoryType, "<CATEGORY,...>"),
    default: DEFAULT_METRIC_CATEGORIES,
    defaultText: "all",
    aliases: ["metrics-categories"],
    help: "Categories of metrics to serve: BLOCKCHAIN, ETHEREUM, RPC, BFT, ...",
  }),
  "metrics-push-enabled": option({
    ...common,
    type: switchType,
    default: false,
    help: "Push metrics to a gateway instead of serving them.",
  }),
  "metrics-push-host": option({
    ...pushed,
    type: hostType,
    default: "127.0.0.1",
    help: "Host of the gateway.",
  }),
  "metrics-push-port": option({ ...pushed, type: portType, default: 9001, help: "Port of the gateway." }),
  "metrics-push-interval": option({
    ...pushed,
    type: integerType({ label: "<SECONDS>", unit: "seconds", min: 1n }),
    default: 15,
    help: "Interval between pushes.",
  }),
  "metrics-push-prometheus-job": option({
    ...pushed,
    type: textType({ label: "<JOB>", accepts: "a name" }),
    default: "besu-client",
    help: "Job name under which the gateway stores the metrics.",
  }),
  "Xmetrics-timers-enabled": option({
    ...common,
    type: switchType,
    default: true,
    isHidden: true,
    help: "Measure durations (metrics of type summary).",
  }),
  "Xmetrics-idle-timeout": option({
    ...scraped,
    type: integerType({ label: "<SECONDS>", unit: "seconds", min: 1n }),
    default: 60,
    isHidden: true,
    help: "Time after which the metrics server closes an idle connection.",
  }),
} as const;
