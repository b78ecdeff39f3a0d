import { clientVersion } from "../config/clientVersion.ts";
import { readSettings } from "../config/readSettings.ts";
import type { Settings } from "../config/settings.ts";
import { createLogger, type Logger, type RootLogger } from "../logging/logger.ts";
import type { RunningNode, StartRefusal } from "../node/node.ts";
import { type CommandLine, parseCommandLine } from "./commandLine.ts";
import { findCommand } from "./commands/commandTable.ts";
import { EXIT } from "./exitCodes.ts";
import { helpText, hiddenHelpText } from "./help.ts";
import { writePidFile } from "./pidFile.ts";
import type { StopRequest } from "./stopRequest.ts";
import { welcomeText } from "./welcome.ts";
import { refuse, type World } from "./world.ts";

/**
 * The program from its arguments to its exit code: reads what is asked, checks it as a whole, then runs the node until
 * it is asked to stop or cannot go on. Bad input is answered on standard error; what happens later is logged.
 */
export async function run(args: readonly string[], world: World): Promise<number> {
  const commandLine = parseCommandLine(args);
  switch (commandLine.asksFor) {
    case "help":
      world.print(helpText(commandLine.words));
      return EXIT.ok;
    case "hiddenHelp":
      world.print(hiddenHelpText());
      return EXIT.ok;
    case "version":
      world.print(`${clientVersion()}\n`);
      return EXIT.ok;
    case undefined:
  }
  if (commandLine.problems.length > 0) return refuse(commandLine.problems.join("\n"), world);
  const command = findCommand(commandLine.words);
  if (command === undefined) return configureAndRun(commandLine, world);
  return command.start({
    ...commandLine,
    world,
    runNode: (settings, logger) => runNode(settings, logger, world),
  });
}

async function configureAndRun({ given, foreign }: CommandLine, world: World): Promise<number> {
  const settings = readSettings({ ...world, given, foreign });
  if (!settings.ok) return refuse(settings.rejection.message, world);
  const logger = createLogger(settings.value.logging);
  try {
    return await runNode(settings.value, logger, world);
  } catch (error) {
    logger.error({ error }, "the node ends because of a fault of its own");
    return EXIT.failed;
  }
}

async function runNode(settings: Settings, logger: RootLogger, world: World): Promise<number> {
  const stopRequest = world.awaitStop();
  const { clientVersion: version, genesisFile, dataPath } = settings;
  logger.info({ version, genesisFile, dataPath }, "starting");
  for (const warning of settings.warnings) logger.warn({}, warning);
  // Loaded only now: help and refusals need none of the node, and should not wait for it.
  const { startNode } = await import("../node/node.ts");
  const started = await startNode(settings, logger);
  if (!started.ok) {
    world.printError(`${started.rejection.message}\n`);
    return exitCodeOf(started.rejection.code);
  }
  const node = started.value;
  // Only now, so that a node that was refused leaves the file of the running one alone.
  const pidFile = writePidFile(settings.pidFile, world.processId);
  try {
    if (!pidFile.ok) {
      world.printError(`${pidFile.rejection.message}\n`);
      return EXIT.badInput;
    }
    if (settings.isDevelopmentNetwork) world.print(welcomeText(settings, node));
    logger.info(factsOf(node), "Ethereum main loop is up.");
    return await untilEnd(node, stopRequest, logger);
  } finally {
    await node.stop();
    if (pidFile.ok) pidFile.value.remove();
    logger.info({}, "stopped");
  }
}

async function untilEnd(node: RunningNode, stopRequest: StopRequest, logger: Logger): Promise<number> {
  const failure = node.failure.then((error) => ({ error }));
  // A node without servers that is no validator waits for nothing but a signal, which does not keep a process alive.
  const holdingOn = setInterval(() => undefined, LONGEST_TIMER_MS);
  const end = await Promise.race([stopRequest.received, failure]);
  clearInterval(holdingOn);
  if (typeof end === "string") {
    logger.info({ signal: end }, "stopping");
    return EXIT.ok;
  }
  logger.error({ error: end.error }, "the node cannot go on and ends");
  const { DamagedData, DiskFailure } = await import("../storage/database.ts");
  return end.error instanceof DiskFailure || end.error instanceof DamagedData ? EXIT.disk : EXIT.failed;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

function factsOf({ http, webSocket, metrics, nodeAddress, isValidator, headNumber }: RunningNode) {
  return { http, webSocket, metrics, nodeAddress, isValidator, headNumber };
}

function exitCodeOf(refusal: StartRefusal): number {
  return refusal === "unusableDatabase" ? EXIT.disk : EXIT.badInput;
}
