import type { Metrics } from "../observability/registry.ts";
import { RpcError } from "./errors/errors.ts";
import { errorTypeOf } from "./errors/errorTypes.ts";
import type { Answer } from "./method.ts";

/** What the doors and the dispatcher count. Where no metrics are wanted they are given none, and count nothing. */
export interface RpcMetrics {
  /** For `answered`. */
  readonly stopwatchSeconds: () => number;
  /** A method that is offered has answered, or refused to. */
  answered(method: string, startedAtSeconds: number, answer: Answer): void;
  /** A method that is not offered: its name is for the incumbent's metrics only when it is a method of ours or theirs. */
  unavailable(method: string | undefined, refusal: RpcError): void;
  rejected(reason: RequestRejection): void;
  subscribed(kind: string): void;
  unsubscribed(kind: string): void;
}

/** Why a request or a connection was turned away, or an answer not waited for. */
export type RequestRejection = (typeof REQUEST_REJECTIONS)[number];

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
    help: "Requests and connections turned away, and answers that took too long",
    labels: ["reason"],
  });
  // A rise from nothing to one is seen only where there was a zero before.
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
    unavailable: (method, refusal) => errors.with(method ?? UNKNOWN, errorTypeOf(refusal)).increment(),
    rejected: (reason) => rejections.with(reason).increment(),
    subscribed: (kind) => subscriptions.begun.with(kind).increment(),
    unsubscribed: (kind) => subscriptions.ended.with(kind).increment(),
  };
}

/** Stands for whatever callers make up: a label must not have as many values as they like. */
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
