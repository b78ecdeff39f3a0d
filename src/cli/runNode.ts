import { loadRpcThreads } from "../callers/threads/loadingThreads.ts";
import type { Configuration } from "../config/readSettings.ts";
import type { Settings } from "../config/settings.ts";
import { hostLimits, hostWarnings } from "../node/host/hostLimits.ts";
import { loadModules, requireOpenFiles } from "../node/host/loadModules.ts";
import type { startNode } from "../node/node.ts";
import type { RunningNode } from "../node/runningNode.ts";
import type { StartErrorCode } from "../node/startErrors.ts";
import type { Logger, RootLogger } from "../observability/logger.ts";
import { assertNever } from "../primitives/assert.ts";
import { durationClock } from "../primitives/clock.ts";
import { forServers, SERVER_NAMES, SERVERS } from "../rpc/server/serverTable.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import { writePidFile } from "./pidFile.ts";
import type { ProcessIo } from "./processIo.ts";
import { Rereading } from "./rereading.ts";
import type { StopRequest } from "./stopRequest.ts";
import { urlOf, welcomeText } from "./welcome.ts";

/**
 * Runs the node from its configuration to its exit code: it ends on a stop signal, a fatal error of the node or an
 * uncaught exception. The reason is logged, and the pid file is removed. On SIGHUP it rereads its configuration.
 */
export async function runNode(
  configuration: Configuration,
  logger: RootLogger,
  io: ProcessIo,
): Promise<number> {
  const { settings } = configuration;
  const rereading = new Rereading(configuration, { clock: durationClock, logger });
  const stopRequest = io.awaitStop((isTerminalClosed) => {
    // Nobody could stop the development network without its terminal. A validator continues.
    if (isTerminalClosed && settings.isDevelopmentNetwork) return "stop";
    rereading.request();
    return "stay";
  });
  // The fault is logged at once, because nothing that follows can be relied upon.
  const fault = io.awaitFault().then((error) => reportFault(error, logger));
  const { clientVersion: version, genesisFile, dataPath } = settings;
  logger.info({ version, genesisFile, dataPath }, "starting");
  for (const note of settings.notes) logger.info({}, note);
  for (const warning of [...settings.warnings, ...hostWarnings(hostLimits())]) logger.warn({}, warning);
  const started = await Promise.race([loadAndStart(settings, logger), fault]);
  if (typeof started === "number") return started;
  if (!started.ok) return reportStartError(started.error, logger, io);
  const node = started.value;
  // The file is written after the start, so that a second node on the same folder does not overwrite the running node's
  // file.
  const pidFile = writePidFile(settings.pidFile, io.processId);
  try {
    if (!pidFile.ok) return reportStartError(pidFile.error, logger, io);
    // Standard output has only JSON lines when the log is JSON.
    const print = settings.logging.format === "json" ? io.printError : io.print;
    const printWelcome = (): unknown => print(welcomeText(settings, node));
    if (settings.isDevelopmentNetwork) {
      if (logger.bar === undefined) printWelcome();
      else logger.bar.above(printWelcome);
    }
    logger.info(fieldsOf(node), "Ethereum main loop is up.");
    rereading.begin(node.live);
    return await untilEnd(node, { stopRequest, fault }, logger);
  } finally {
    rereading.close();
    if (!(await endsWithin(STOP_LIMIT_MS, node.stop())))
      logger.warn({ limitMs: STOP_LIMIT_MS }, "the node did not stop in time and is ended now");
    if (pidFile.ok) pidFile.value.remove();
    logger.info({}, "stopped");
  }
}

/** Loads the node's modules lazily, so that help and configuration errors are fast. */
async function loadAndStart(settings: Settings, logger: RootLogger): ReturnType<typeof startNode> {
  requireOpenFiles();
  const threads = loadRpcThreads(settings);
  const node = await loadModules(() => import("../node/node.ts"));
  return node.startNode(settings, logger, threads);
}

async function untilEnd(
  node: RunningNode,
  { stopRequest, fault }: { readonly stopRequest: StopRequest; readonly fault: Promise<number> },
  logger: Logger,
): Promise<number> {
  // A non-validator without servers waits for signals only, which do not keep a process alive.
  const keepAlive = setInterval(() => undefined, LONGEST_TIMER_MS);
  const end = await Promise.race([
    stopRequest.received.then((signal) => ({ kind: "asked", signal }) as const),
    node.failure.then((error) => ({ kind: "failed", error }) as const),
    fault.then((exitCode) => ({ kind: "fault", exitCode }) as const),
  ]);
  clearInterval(keepAlive);
  switch (end.kind) {
    case "asked":
      logger.info({ signal: end.signal }, "stopping");
      return EXIT.ok;
    case "failed":
      return reportFault(end.error, logger);
    case "fault":
      return end.exitCode;
    default:
      return assertNever(end);
  }
}

/** Logs why the node ends by itself, and returns its exit code. */
export function reportFault(error: unknown, logger: Logger): number {
  const exitCode = exitCodeOf(error);
  if (error instanceof DiskError || error instanceof DamagedData)
    // The message says what happened and what to do, so the stack is left out.
    logger.error({}, `the node stops because of a fatal error: ${error.message}`);
  else
    logger.error({ error }, "the node stops because of an internal error; please report it with these lines");
  return exitCode;
}

/** Logs a start error and, as Besu does, prints it to standard error unless one terminal shows both. */
function reportStartError(
  { code, message }: { readonly code: StartErrorCode | "unusablePidFile"; readonly message: string },
  logger: Logger,
  io: ProcessIo,
): number {
  const isOnOneScreen = io.isTerminal && logger.isEnabled("error");
  logger.error({ reason: code }, `the node cannot start: ${message}`);
  if (!isOnOneScreen) io.printError(`${message}\n`);
  return code === "unusableDatabase" || code === "diskFailure" ? EXIT.disk : EXIT.badInput;
}

/** Waits for `work` up to the limit, then abandons it; the data on disk stays consistent. */
/** Resolves when the work has ended or its time is over, to whether it has ended. */
async function endsWithin(limitMs: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isEnded = await Promise.race([
    work.then(() => true),
    new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), limitMs);
    }),
  ]);
  clearTimeout(timer);
  return isEnded;
}

const STOP_LIMIT_MS = 20_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function fieldsOf({ endpoints, nodeAddress, isValidator, headNumber }: RunningNode) {
  const urls = forServers(SERVER_NAMES, (name) => urlOf(SERVERS[name].scheme, endpoints[name]));
  return { ...urls, nodeAddress, isValidator, headNumber };
}
