export const LOG_LEVELS = ["OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Modules with loggers of their own; `node` starts, monitors and stops the others. */
export const LOG_MODULES = [
  "node",
  "chain",
  "consensus",
  "metrics",
  "network",
  "permissioning",
  "rpc",
  "storage",
  "sync",
  "txpool",
] as const;

export type LogModule = (typeof LOG_MODULES)[number];
