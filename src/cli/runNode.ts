import type { Settings } from "../config/settings.ts";
import { hostLimits, hostWarnings } from "../node/hostLimits.ts";
import { loadModules } from "../node/loadModules.ts";
import type { RunningNode, StartErrorCode, startNode } from "../node/node.ts";
import type { Logger, RootLogger } from "../observability/logger.ts";
import { assertNever } from "../primitives/assert.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import { writePidFile } from "./pidFile.ts";
import type { ProcessIo } from "./processIo.ts";
import type { StopRequest } from "./stopRequest.ts";
import { urlOf, welcomeText } from "./welcome.ts";

/**
 * The node from its settings to its exit code: started, then left to itself until somebody asks it to stop, or it cannot
 * go on, or the program breaks. Whichever it is, the log says so, and what the node put beside its data is removed.
 */
export async function runNode(settings: Settings, logger: RootLogger, io: ProcessIo): Promise<number> {
  const stopRequest = io.awaitStop();
  // Told at once, whatever the program is at: nothing that follows it can be relied upon.
  const fault = io.awaitFault().then((error) => tellFault(error, logger));
  const { clientVersion: version, genesisFile, dataPath } = settings;
  logger.info({ version, genesisFile, dataPath }, "starting");
  for (const note of settings.notes) logger.info({}, note);
  for (const warning of [...settings.warnings, ...hostWarnings(hostLimits())]) logger.warn({}, warning);
  const started = await Promise.race([loadAndStart(settings, logger), fault]);
  if (typeof started === "number") return started;
  if (!started.ok) return tellRefusal(started.error, logger, io);
  const node = started.value;
  // Only now, so that a node that was refused leaves the file of the running one alone.
  const pidFile = writePidFile(settings.pidFile, io.processId);
  try {
    if (!pidFile.ok) return tellRefusal(pidFile.error, logger, io);
    // Among lines for programs there is no place for it.
    const print = settings.logging.format === "text" ? io.print : io.printError;
    if (settings.isDevelopmentNetwork) print(welcomeText(settings, node));
    logger.info(factsOf(node), "Ethereum main loop is up.");
    return await untilEnd(node, { stopRequest, fault }, logger);
  } finally {
    await within(STOP_LIMIT_MS, node.stop());
    if (pidFile.ok) pidFile.value.remove();
    logger.info({}, "stopped");
  }
}

/** Loaded only now: help and refusals need none of the node, and should not wait for it. */
async function loadAndStart(settings: Settings, logger: RootLogger): ReturnType<typeof startNode> {
  const node = await loadModules(() => import("../node/node.ts"));
  return node.startNode(settings, logger);
}

async function untilEnd(
  node: RunningNode,
  { stopRequest, fault }: { readonly stopRequest: StopRequest; readonly fault: Promise<number> },
  logger: Logger,
): Promise<number> {
  // A node without servers that is no validator waits for nothing but a signal, which does not keep a process alive.
  const holdingOn = setInterval(() => undefined, LONGEST_TIMER_MS);
  const end = await Promise.race([
    stopRequest.received.then((signal) => ({ kind: "asked", signal }) as const),
    node.failure.then((error) => ({ kind: "failed", error }) as const),
    fault.then((exitCode) => ({ kind: "fault", exitCode }) as const),
  ]);
  clearInterval(holdingOn);
  switch (end.kind) {
    case "asked":
      logger.info({ signal: end.signal }, "stopping");
      return EXIT.ok;
    case "failed":
      return tellFault(end.error, logger);
    case "fault":
      return end.exitCode;
    default:
      return assertNever(end);
  }
}

/** Says why the program ends by itself; answers its exit code. */
export function tellFault(error: unknown, logger: Logger): number {
  const exitCode = exitCodeOf(error);
  if (error instanceof DiskError || error instanceof DamagedData)
    // The sentence says what happened and what to do; where in the program it was noticed helps nobody.
    logger.error({}, `the node cannot go on and ends: ${error.message}`);
  else
    logger.error({ error }, "the node ends because of a fault of its own; please report it with these lines");
  return exitCode;
}

/** In the log for whoever keeps it, and on standard error as the incumbent does, unless one screen shows both. */
function tellRefusal(
  { code, message }: { readonly code: StartErrorCode | "unusablePidFile"; readonly message: string },
  logger: Logger,
  io: ProcessIo,
): number {
  const isOnOneScreen = io.isTerminal && logger.isShown("error");
  logger.error({ reason: code }, `the node cannot start: ${message}`);
  if (!isOnOneScreen) io.printError(`${message}\n`);
  return code === "unusableDatabase" || code === "diskFailure" ? EXIT.disk : EXIT.badInput;
}

/** What takes longer is abandoned: the data survives that. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    }),
  ]);
  clearTimeout(timer);
}

const STOP_LIMIT_MS = 20_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function factsOf({ http, webSocket, metrics, nodeAddress, isValidator, headNumber }: RunningNode) {
  const servers = {
    http: urlOf("http", http),
    webSocket: urlOf("ws", webSocket),
    metrics: urlOf("http", metrics),
  };
  return { ...servers, nodeAddress, isValidator, headNumber };
}
