import { resolve } from "node:path";
import { readSettings } from "../../config/readSettings.ts";
import type { Settings } from "../../config/settings.ts";
import { listType, pathType, switchType } from "../../config/valueTypes.ts";
import { toHex } from "../../primitives/hex.ts";
import type { Result } from "../../primitives/result.ts";
import { reportDiskErrors, reportFailure } from "../commandErrors.ts";
import { findDatabase } from "../databasePaths.ts";
import { EXIT } from "../exitCodes.ts";
import type { ReadHandOver } from "../handOver/handOverFile.ts";
import { type Place, placeType } from "../handOver/place.ts";
import type { StoppedFolder } from "../handOver/stoppedFolder.ts";
import { refuseMarkedFolder } from "../markedFolder.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const FILE = { ...pathType, label: "<FILE>" };
const PLACES = listType(placeType, "<PLACE,...>");
const FOLDER_OPTIONS = [
  "data-path",
  "genesis-file",
  "config-file",
  "node-private-key-file",
  "node-keystore-file",
  "node-keystore-password-file",
  "validator-signer-url",
  "validator-signer-public-key",
] as const;

export const HAND_OVER_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "validator hand-over",
    help:
      "Give up a validator on this machine: stop its node, mark the data folder, so that no node starts with this key there again, and write " +
      "its key and votes to a file for 'validator take-over'. See docs/operating/hand-over.md.",
    options: {
      to: { type: FILE, help: "File to write, with mode 0600. It contains the private key unencrypted." },
      undo: {
        type: switchType,
        help: "Remove the mark: the validator is this folder's again. It is silent at first, since another node may have voted.",
      },
      "never-taken": {
        type: switchType,
        help: "With --undo: the file was never used, and is destroyed. The validator votes at once.",
      },
      "new-node": {
        type: PLACES,
        default: "",
        help: "With --undo: where the new node would answer (host:port of its peers, enode URL, URL of JSON-RPC). Refused if it does.",
      },
    },
    nodeOptions: [...FOLDER_OPTIONS, "p2p-host", "p2p-port"],
    run: giveAway,
  }),
  defineCommand({
    words: "validator take-over",
    help:
      "Install the validator from a file of 'validator hand-over' in the data folder of a stopped node. Refused while the old " +
      "node answers, and when the file was used here before. See docs/operating/hand-over.md.",
    options: {
      from: { type: FILE, isRequired: true, help: "File that validator hand-over wrote." },
      "old-node": {
        type: PLACES,
        default: "",
        help: "Where the old node answered (host:port of its peers, enode URL, URL of JSON-RPC), in addition to the file's.",
      },
    },
    nodeOptions: FOLDER_OPTIONS,
    run: takeIn,
  }),
];

interface GiveValues {
  readonly to: string | undefined;
  readonly undo: boolean | undefined;
  readonly "never-taken": boolean | undefined;
  readonly "new-node": readonly Place[];
}

async function giveAway({ values, raw, unknown, io }: Invocation<GiveValues>): Promise<number> {
  const { to, undo, "never-taken": isNeverTaken = false, "new-node": places } = values;
  if ((to === undefined) === (undo !== true)) return refuse("Give either --to=<FILE> or --undo.", io);
  if (undo !== true && (isNeverTaken || places.length > 0))
    return refuse("--never-taken and --new-node go with --undo.", io);
  const settings = readSettings({ ...io, raw, unknown });
  if (!settings.ok) return refuse(settings.error.message, io);
  const unmarked = refuseMarkedFolder(settings.value.dataPath, "its validator is not handed over");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  const found = findDatabase(settings.value.dataPath);
  if (!found.ok) return refuse(found.error.message, io);
  return to === undefined
    ? goBack(settings.value, { places, isNeverTaken }, io)
    : write(settings.value, resolve(io.workingDirectory, to), io);
}

async function write(settings: Settings, to: string, io: ProcessIo): Promise<number> {
  const { findEarlyObjection, handOver } = await import("../handOver/handOver.ts");
  const { stopNode } = await import("../handOver/stopNode.ts");
  const objection = findEarlyObjection(settings, to);
  if (objection !== undefined) return reportFailure(objection, io, EXIT.failed);
  const stopped = await stopNode(settings.dataPath);
  if (!stopped.ok) return reportFailure(stopped.error.message, io, EXIT.badInput);
  if (stopped.value === "stopped") io.printError(`The node in ${settings.dataPath} was stopped.\n`);
  return inFolder(
    settings,
    io,
    (folder) => handOver({ settings, to }, folder),
    ({ key, height, votes, id }) =>
      `validator: ${toHex(key.address)}\nblock: ${height}\nhand-over: ${id}\nfile: ${to}\n\n` +
      "ANYONE WITH THIS FILE CAN ACT AS THE VALIDATOR: it contains the private key unencrypted. Copy it to the new machine over a " +
      "private channel (scp), and destroy every copy when the new node votes (shred -u).\n" +
      "The node of this folder does not start with this key again. To undo this, run ibex validator hand-over --undo.\n" +
      `On the new machine: ibex --data-path=... validator take-over --from=${to}\n${
        votes === undefined
          ? "There is no record of votes, so the validator will be silent at first (docs/operating.md, Lost votes).\n"
          : ""
      }`,
  );
}

async function goBack(
  settings: Settings,
  choices: { readonly places: readonly Place[]; readonly isNeverTaken: boolean },
  io: ProcessIo,
): Promise<number> {
  const { undoHandOver } = await import("../handOver/undo.ts");
  return inFolder(
    settings,
    io,
    (folder) => undoHandOver({ settings, ...choices }, folder),
    ({ address }) =>
      `The validator ${address} belongs to this folder again. ${
        choices.isNeverTaken
          ? ""
          : "It is silent at first, because its votes may be stale (docs/operating.md, Lost votes). "
      }\nDestroy every copy of the file of this hand-over: a node that takes it over now would be a second one with this key.\n`,
  );
}

interface TakeValues {
  readonly from: string;
  readonly "old-node": readonly Place[];
}

async function takeIn({ values, raw, unknown, io }: Invocation<TakeValues>): Promise<number> {
  const settings = readSettings({ ...io, raw, unknown });
  if (!settings.ok) return refuse(settings.error.message, io);
  const unmarked = refuseMarkedFolder(settings.value.dataPath, "no validator is taken over into it");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  const { readHandOver } = await import("../handOver/handOverFile.ts");
  const read = readHandOver(resolve(io.workingDirectory, values.from));
  if (!read.ok) return reportFailure(read.error.message, io, EXIT.failed);
  const { handOver, isExposed } = read.value;
  if (isExposed)
    io.printError(`Other users of this host may read the private key: chmod 600 ${values.from}\n`);
  const { takeOver } = await import("../handOver/takeOver.ts");
  return inFolder(
    settings.value,
    io,
    (folder) => takeOver({ settings: settings.value, handOver, places: values["old-node"] }, folder),
    ({ formerKey }) => describeTaken(read.value, formerKey, values.from),
  );
}

function describeTaken(
  { handOver: { key, height, id }, record }: ReadHandOver,
  formerKey: string | undefined,
  file: string,
): string {
  const votes =
    record === undefined
      ? "none: the validator is silent at first (docs/operating.md, Lost votes)"
      : `up to height ${record.height}, round ${record.round}`;
  return `validator: ${toHex(key.address)}\nblock of the old node: ${height}\nvotes: ${votes}\nhand-over: ${id}\n${
    formerKey === undefined ? "" : `former key of this folder: ${formerKey}\n`
  }\nStart this node. When it votes, destroy every copy of the file (shred -u ${file}).\n`;
}

/** Runs `work` on the folder of the stopped node, and prints the result. */
async function inFolder<T>(
  settings: Settings,
  io: ProcessIo,
  work: (folder: StoppedFolder) => Promise<Result<T, "refused">>,
  describe: (value: T) => string,
): Promise<number> {
  const { withStoppedFolder } = await import("../handOver/stoppedFolder.ts");
  return reportDiskErrors(io, async () => {
    const done = await withStoppedFolder(settings, work);
    if (!done.ok)
      return reportFailure(
        done.error.message,
        io,
        done.error.code === "diskFailure" ? EXIT.disk : EXIT.badInput,
      );
    if (!done.value.ok) return reportFailure(done.value.error.message, io, EXIT.failed);
    io.print(describe(done.value.value));
    return EXIT.ok;
  });
}
