import type { Metrics } from "../observability/registry.ts";
import { errorTypeOf } from "./errors/errorMetricNames.ts";
import { RpcError } from "./errors/errors.ts";
import type { Answer } from "./method.ts";
import { CALLER_SERVERS, type CallerServerName, SERVERS } from "./server/serverTable.ts";

/** Metrics of the servers and the dispatcher, which count nothing when they get none. */
export interface RpcMetrics {
  /** The clock for `answered`. */
  readonly stopwatchSeconds: () => number;
  /** Counts a call of an offered method, answered or refused. */
  answered(method: string, startedAtSeconds: number, answer: Answer): void;
  /** Counts a call of a method that is not offered, or not to this caller; `method` is undefined for a name that neither we nor Besu know. */
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
  "token",
  "permission",
  "login",
  "logins",
  "handshake",
  "certificate",
] as const;

/** Something that happened, as the metrics count it; also sent by threads (threads/messages.ts). */
export type RpcCount = (
  | { readonly kind: "answered"; readonly method: string; readonly seconds: number }
  | { readonly kind: "error"; readonly method: string; readonly type: string }
  | { readonly kind: "rejected"; readonly reason: RequestRejection }
  | { readonly kind: "subscribed"; readonly type: string }
  | { readonly kind: "unsubscribed"; readonly type: string }
) & {
  /** How often it happened, once if not given; `seconds` are then a mean. */
  readonly times?: number;
};

/** Metrics that hand what they count to `count`. */
export function createRpcMetrics(stopwatchSeconds: () => number, count: (one: RpcCount) => void): RpcMetrics {
  return {
    stopwatchSeconds,
    answered(method, startedAtSeconds, answer) {
      count({ kind: "answered", method, seconds: stopwatchSeconds() - startedAtSeconds });
      if (answer instanceof RpcError) count({ kind: "error", method, type: errorTypeOf(answer) });
    },
    unavailable: (method = UNKNOWN, error) => count({ kind: "error", method, type: errorTypeOf(error) }),
    rejected: (reason) => count({ kind: "rejected", reason }),
    subscribed: (type) => count({ kind: "subscribed", type }),
    unsubscribed: (type) => count({ kind: "unsubscribed", type }),
  };
}

/** Declares the metrics of the servers, of which `connectionsOf` are open. Returns the function that counts in them. */
export function declareRpcCounts(
  metrics: Metrics,
  connectionsOf: (server: CallerServerName) => number,
): (one: RpcCount) => void {
  const requests = metrics.summary({
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
  for (const server of CALLER_SERVERS)
    metrics.gauge({ category: "RPC", ...SERVERS[server].connections }, () => connectionsOf(server));
  return (one) => {
    const { times } = one;
    if (one.kind === "answered") requests.with(one.method).observe(one.seconds, times);
    else if (one.kind === "error") errors.with(one.method, one.type).increment(times);
    else if (one.kind === "rejected") rejections.with(one.reason).increment(times);
    else subscriptions[one.kind].with(one.type).increment(times);
  };
}

/** Replaces names that callers make up, so that they cannot add label values without limit. */
const UNKNOWN = "unknown";

function declareSubscriptions(metrics: Metrics) {
  return {
    subscribed: metrics.counter({
      category: "RPC",
      name: "subscription_subscribe_total",
      help: "Subscriptions begun",
      labels: ["type"],
    }),
    unsubscribed: metrics.counter({
      category: "RPC",
      name: "subscription_unsubscribe_total",
      help: "Subscriptions ended, those that ended with their connection included",
      labels: ["type"],
    }),
  };
}
