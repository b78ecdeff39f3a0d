import type { Metrics } from "../observability/registry.ts";
import { errorTypeOf } from "./errors/errorMetricNames.ts";
import { RpcError } from "./errors/errors.ts";
import type { Answer } from "./method.ts";

/** Metrics of the servers and the dispatcher, which count nothing when they get none. */
export interface RpcMetrics {
  /** The clock for `answered`. */
  readonly stopwatchSeconds: () => number;
  /** Counts a call of an offered method, answered or refused. */
  answered(method: string, startedAtSeconds: number, answer: Answer): void;
  /** Counts a call of a method that is not offered; `method` is undefined for a name that neither we nor Besu know. */
  unavailable(method: string | undefined, error: RpcError): void;
  rejected(reason: RequestRejection): void;
  subscribed(kind: string): void;
  unsubscribed(kind: string): void;
}

/** Why a request or a connection was refused, or an answer given up. */
type RequestRejection = (typeof REQUEST_REJECTIONS)[number];

const REQUEST_REJECTIONS = [
  "host",
  "origin",
  "connections",
  "batch",
  "body",
  "parts",
  "busy",
  "timeout",
] as const;

export interface ConnectionCounts {
  httpConnections(): number;
  webSocketConnections(): number;
}

export function declareRpcMetrics(metrics: Metrics, connections: ConnectionCounts): RpcMetrics {
  const times = metrics.summary({
    category: "RPC",
    name: "request_time",
    help: "Time spent on a JSON-RPC request, seconds",
    labels: ["methodName"],
  });
  const errors = metrics.counter({
    category: "RPC",
    name: "errors_count",
    help: "JSON-RPC requests answered with an error",
    labels: ["rpcMethod", "errorType"],
  });
  const subscriptions = declareSubscriptions(metrics);
  const rejections = metrics.counter({
    category: "RPC",
    prefix: "rpc_",
    name: "requests_rejected_total",
    help: "Requests and connections refused, and answers that took too long",
    labels: ["reason"],
  });
  // Each counter starts at zero, because a rate does not see a counter that appears with the value one.
  for (const reason of REQUEST_REJECTIONS) rejections.with(reason);
  metrics.gauge(
    { category: "RPC", name: "active_http_connection_count", help: "Open HTTP connections" },
    connections.httpConnections,
  );
  metrics.gauge(
    { category: "RPC", name: "active_ws_connection_count", help: "Open WebSocket connections" },
    connections.webSocketConnections,
  );
  const { stopwatchSeconds } = metrics;
  return {
    stopwatchSeconds,
    answered(method, startedAtSeconds, answer) {
      times.with(method).observe(stopwatchSeconds() - startedAtSeconds);
      if (answer instanceof RpcError) errors.with(method, errorTypeOf(answer)).increment();
    },
    unavailable: (method, error) => errors.with(method ?? UNKNOWN, errorTypeOf(error)).increment(),
    rejected: (reason) => rejections.with(reason).increment(),
    subscribed: (kind) => subscriptions.begun.with(kind).increment(),
    unsubscribed: (kind) => subscriptions.ended.with(kind).increment(),
  };
}

/** Replaces names that callers make up, so that they cannot add label values without limit. */
const UNKNOWN = "unknown";

function declareSubscriptions(metrics: Metrics) {
  return {
    begun: metrics.counter({
      category: "RPC",
      name: "subscription_subscribe_total",
      help: "Subscriptions begun",
      labels: ["type"],
    }),
    ended: metrics.counter({
      category: "RPC",
      name: "subscription_unsubscribe_total",
      help: "Subscriptions ended, those that ended with their connection included",
      labels: ["type"],
    }),
  };
}
