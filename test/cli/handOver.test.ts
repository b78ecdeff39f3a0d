import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { handOver } from "../../src/cli/handOver/handOver.ts";
import { readHandOver } from "../../src/cli/handOver/handOverFile.ts";
import { withStoppedFolder } from "../../src/cli/handOver/stoppedFolder.ts";
import { takeOver } from "../../src/cli/handOver/takeOver.ts";
import { isRunning } from "../../src/cli/runningProcess.ts";
import { askNode } from "../../src/cli/status/askNode.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { ByteQueue } from "../../src/network/rlpx/byteQueue.ts";
import { answerExchange } from "../../src/network/rlpx/keyExchange.ts";
import { openDataDirectory } from "../../src/node/dataFolder/dataDirectory.ts";
import { writeHandOverMark } from "../../src/node/dataFolder/handOverMark.ts";
import { openIdentity } from "../../src/node/keys/identity.ts";
import { nodeKey } from "../../src/node/keys/nodeKey.ts";
import { startNode } from "../../src/node/node.ts";
import { openStatusSocket } from "../../src/node/status/statusSocket.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import { aSealedBlock, FOUR_KEYS, GENESIS_OF_FOUR } from "../builders/fourValidators.ts";
import { account } from "../builders/testAccounts.ts";
import { PROGRAM, runProgram } from "../cluster/harness/nodeProcess.ts";
import { quickKeystore } from "../node/keys/quickKeystore.ts";
import { settingsOf as nodeSettings } from "../node/settingsOf.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { IS_THOROUGH, itIfThorough } from "../thorough.ts";
import { ibexHere } from "./program.ts";

const [{ address: SELF, privateKey: KEY }, { privateKey: OTHER_VALIDATOR }] = FOUR_KEYS;
const RECORD: LastSignedState = { height: 2n, round: 3, digest: undefined, prepared: undefined };
const HEX_KEY = toHex(KEY);

/** A folder with the genesis file, block 1 in a file, and the data of a stopped validator at block 1 in `old`. */
let origin = "";

beforeAll(async () => {
  origin = mkdtempSync(join(tmpdir(), "ibex-test-"));
  const old = join(origin, "old");
  mkdirSync(old);
  writeFileSync(join(origin, "genesis.json"), GENESIS_OF_FOUR);
  writeFileSync(join(old, "key"), HEX_KEY, { mode: 0o600 });
  writeFileSync(join(origin, "blocks"), await aSealedBlock());
  await importBlock(origin, old);
  const log = await openVoteLog(join(old, "votes.log"));
  await log.write(encodeLastSigned(RECORD));
  await log.close();
});

async function importBlock(place: string, dataPath: string): Promise<void> {
  const options = [`--data-path=${dataPath}`, `--genesis-file=${join(place, "genesis.json")}`];
  const imported = runProgram([...options, "blocks", "import", `--from=${join(place, "blocks")}`]);
  expect([await imported.exit, imported.output()]).toEqual([0, expect.anything()]);
}

/** The stopped validator, and an empty folder beside it. */
function aMove() {
  const place = temporaryFolder();
  cpSync(origin, place, { recursive: true });
  const [old, fresh] = [join(place, "old"), join(place, "new")];
  mkdirSync(fresh);
  const genesisFile = join(place, "genesis.json");
  const options = (data: string) => [`--data-path=${data}`, `--genesis-file=${genesisFile}`];
  const file = join(place, "moved");
  const give = (...words: readonly string[]) =>
    ibexHere([
      ...options(old),
      "--p2p-port=0",
      "validator",
      "hand-over",
      ...(words.length > 0 ? words : [`--to=${file}`]),
    ]);
  const take = (data = fresh, from = file, ...words: readonly string[]) =>
    ibexHere([...options(data), "validator", "take-over", `--from=${from}`, ...words]);
  return { place, old, fresh, file, genesisFile, options, give, take };
}

type Move = ReturnType<typeof aMove>;

/** The address with which a node would start in the folder, or the code of its refusal. */
async function startIn(dataPath: string): Promise<string> {
  const settings = settingsOf({ genesisFile: join(dataPath, "..", "genesis.json") }, dataPath);
  const directory = openDataDirectory(dataPath);
  if (!directory.ok) throw new Error(directory.error.message);
  const identity = await openIdentity(settings, directory.value, silentLogger);
  return identity.ok ? toHex(identity.value.address) : identity.error.code;
}

function settingsOf({ genesisFile }: Pick<Move, "genesisFile">, dataPath: string) {
  const source = { kind: "commandLine" } as const;
  const settings = readSettings({
    environment: {},
    workingDirectory: dataPath,
    isTerminal: false,
    raw: [
      { name: "data-path", text: dataPath, source },
      { name: "genesis-file", text: genesisFile, source },
      { name: "p2p-port", text: "0", source },
    ],
    unknown: [],
  });
  if (!settings.ok) throw new Error(settings.error.message);
  return settings.value;
}

async function recordIn(dataPath: string) {
  const path = join(dataPath, "votes.log");
  if (!existsSync(path)) return undefined;
  const log = await openVoteLog(path);
  const record = decodeLastSigned(log.read() ?? new Uint8Array());
  await log.close();
  return record.ok ? record.value : record.error;
}

const keyIn = (dataPath: string): string => readFileSync(join(dataPath, "key"), "utf8");

/** Ends the command where a kill would. */
class Killed extends Error {}

/** Runs the command's work until it has made that many durable steps; returns these. */
async function killAfter(
  count: number,
  work: (onStep: (step: string) => void) => Promise<unknown>,
): Promise<readonly string[]> {
  const steps: string[] = [];
  const onStep = (step: string): void => {
    steps.push(step);
    if (steps.length === count) throw new Killed();
  };
  await work(onStep).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  return steps;
}

const GIVING = ["draft", "mark", "file"];
const TAKING = ["taking", "votes", "former key", "key", "taken"];

describe("a process that only has the number of the old node's", () => {
  it.runIf(existsSync("/proc/self/fd"))("is not stopped", async () => {
    const { old, give, file } = aMove();
    const other = spawn("sleep", ["60"]);
    onTestFinished(() => void other.kill());
    const socket = await openStatusSocket(old, () => JSON.stringify({ processId: other.pid }));
    if ("problem" in socket) throw new Error(socket.problem);
    onTestFinished(socket.close);
    expect(await give()).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining("runs as a process that cannot be stopped from here"),
    });
    expect(other.exitCode ?? other.signalCode).toBeNull();
    expect(existsSync(file)).toBe(false);
  });
});

/**
 * A process whose end its parent, which is `parent`, does not ask for. It begins once that is no shell any more: a shell asks for
 * what ends while it is one.
 */
async function aZombie(script: string, ...args: readonly string[]) {
  const child = `until grep -q sleep /proc/$$/comm; do :; done; exec ${script}`;
  const parent = spawn("sh", ["-c", `{ ${child}; } & echo $!; exec sleep 600`, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill());
  const id = await new Promise<number>((resolve) =>
    parent.stdout.once("data", (line: Buffer) => resolve(Number(line.toString()))),
  );
  return { id, parent };
}

describe.runIf(existsSync("/proc/self/stat"))(
  "a process that has ended, and that nobody asked for its exit code",
  () => {
    const isZombie = (id: number): boolean => readFileSync(`/proc/${id}/stat`, "utf8").includes(") Z ");

    it("does not run", async () => {
      const { id, parent } = await aZombie("true");
      await expect.poll(() => isZombie(id)).toBe(true);
      expect([isRunning(id), isRunning(parent.pid ?? 0), isRunning(process.pid)]).toEqual([
        false,
        true,
        true,
      ]);
      expect(process.kill(id, 0)).toBe(true);
    });

    it("is a node that was stopped, so that its validator is handed over", async () => {
      const { old, give, options } = aMove();
      const node = ["--p2p-enabled=false", "--rpc-http-enabled=false", "--logging=OFF"];
      const { id } = await aZombie('"$@"', "sh", process.execPath, PROGRAM, ...options(old), ...node);
      await expect.poll(async () => (await askNode(old)).ok).toBe(true);
      expect(await give()).toMatchObject({ exitCode: 0, errors: expect.stringContaining("was stopped") });
      expect(isZombie(id)).toBe(true);
    });
  },
);

describe("a validator's hand-over", () => {
  const signer = [
    "--validator-signer-url=http://signer:9000",
    `--validator-signer-public-key=${toHex(curve.publicKey(new Uint8Array(32).fill(7)))}`,
  ];

  it("is refused with a remote signer, which has the key, before the node is stopped", async () => {
    const move = aMove();
    const given = await ibexHere([
      ...[...move.options(move.old), ...signer, "validator", "hand-over", `--to=${move.file}`],
    ]);
    expect(given.errors).toContain("there is none to hand over");
    expect(existsSync(move.file)).toBe(false);
    expect(given.exitCode).toBe(1);
  });

  it("is not taken over by a node with a remote signer", async () => {
    const move = aMove();
    await move.give();
    const taken = await ibexHere([
      ...[...move.options(move.fresh), ...signer, "validator", "take-over", `--from=${move.file}`],
    ]);
    expect(taken.errors).toContain("the node would not use it");
    expect(taken.exitCode).toBe(1);
  });

  it("moves key and votes, and leaves the old folder unable to start", async () => {
    const move = aMove();
    const given = await move.give();
    expect(given).toMatchObject({ exitCode: 0, errors: "" });
    expect(given.output).toContain(`validator: ${toHex(SELF)}\nblock: 1\n`);
    expect(given.output).toContain("ANYONE WITH THIS FILE CAN ACT AS THE VALIDATOR");
    expect(statSync(move.file).mode & 0o777).toBe(0o600);
    expect(await startIn(move.old)).toBe("handedOver");
    const taken = await move.take();
    expect(taken).toMatchObject({ exitCode: 0, errors: "" });
    expect(taken.output).toContain("votes: up to height 2, round 3");
    expect(await startIn(move.fresh)).toBe(toHex(SELF));
    expect(await startIn(move.old)).toBe("handedOver");
    expect(await recordIn(move.fresh)).toEqual(RECORD);
    expect(statSync(join(move.fresh, "key")).mode & 0o777).toBe(0o600);
  });

  it("is known to the doctor, also when it is half done", async () => {
    const move = aMove();
    await move.give();
    const doctor = () => ibexHere([...move.options(move.old), "--p2p-port=0", "doctor"]);
    const gone = `The validator ${toHex(SELF)} was handed over from ${move.old}`;
    expect((await doctor()).output).toContain(gone);
    const mark = join(move.old, "hand-over.json");
    const { given, ...others } = JSON.parse(readFileSync(mark, "utf8")) as { given: { id: string } };
    writeFileSync(mark, JSON.stringify({ ...others, taking: { id: given.id } }));
    expect((await doctor()).output).toContain(`Problem: A validator is being taken over into ${move.old}`);
    rmSync(mark);
    expect((await doctor()).output).not.toContain("over");
  });

  it("keeps the key and the votes that the new folder had", async () => {
    const move = aMove();
    const former = toHex(account(7).privateKey);
    writeFileSync(join(move.fresh, "key"), former);
    writeFileSync(join(move.fresh, "votes.log"), "");
    await move.give();
    const { output } = await move.take();
    const kept = /former key of this folder: (.*)/.exec(output)?.[1] ?? "";
    expect(readFileSync(kept, "utf8")).toBe(former);
    expect(readdirSync(move.fresh).filter((name) => name.includes(".before-"))).toHaveLength(2);
    expect(keyIn(move.fresh)).toBe(HEX_KEY);
  });

  it("without a vote log gives the new folder none, and says that the validator will be silent", async () => {
    const move = aMove();
    for (const name of ["votes.log", "votes.log.mark"]) rmSync(join(move.old, name));
    expect((await move.give()).output).toContain("There is no record of votes");
    expect((await move.take()).output).toContain("votes: none: the validator is silent at first");
    expect(existsSync(join(move.fresh, "votes.log"))).toBe(false);
  });

  itIfThorough("goes back to the old folder by a hand-over of the new one", async () => {
    const move = aMove();
    await move.give();
    await move.take();
    const later: LastSignedState = { ...RECORD, height: 9n };
    const log = await openVoteLog(join(move.fresh, "votes.log"));
    await log.write(encodeLastSigned(later));
    await log.close();
    // The new folder has no chain yet.
    expect(
      (await ibexHere([...move.options(move.fresh), "validator", "hand-over", `--to=${move.file}2`])).errors,
    ).toContain("has no block yet");
    await importBlock(move.place, move.fresh);
    const back = ["--p2p-port=0", "validator", "hand-over", `--to=${move.file}2`];
    expect(await ibexHere([...move.options(move.fresh), ...back])).toMatchObject({ exitCode: 0 });
    expect(await move.take(move.old, `${move.file}2`)).toMatchObject({ exitCode: 0 });
    expect([await startIn(move.old), await startIn(move.fresh)]).toEqual([toHex(SELF), "handedOver"]);
    expect(await recordIn(move.old)).toEqual(later);
    // The first file is of no use any more, in either folder.
    for (const folder of [move.old, move.fresh])
      expect((await move.take(folder)).errors).toMatch(/was used in .* before, and its votes are stale now/);
  });
});

describe("a node that starts", () => {
  const ID = "0123456789abcdef".repeat(2);

  /** Starts a node in the old folder, and returns the code of its refusal; `meanwhile` runs once it has begun to read its key. */
  async function startOld(
    { old, genesisFile, place }: Move,
    options: Readonly<Record<string, string>>,
    meanwhile: () => void = () => undefined,
  ) {
    const own = { "data-path": old, "genesis-file": genesisFile, "p2p-enabled": "false" };
    const starting = startNode(nodeSettings(place, { ...own, ...options }), silentLogger);
    meanwhile();
    const started = await starting;
    if (started.ok) await started.value.stop();
    return started.ok ? "started" : started.error.code;
  }

  /** The options of a keystore with the validator's key. */
  async function aKeystore({ place }: Move) {
    const [keystore, password] = [join(place, "keystore"), join(place, "password")];
    writeFileSync(keystore, await quickKeystore(KEY, "secret"), { mode: 0o600 });
    writeFileSync(password, "secret", { mode: 0o600 });
    return { "node-keystore-file": keystore, "node-keystore-password-file": password };
  }

  itIfThorough(
    "does not vote with a key that was given away, or after a take-over, while its keystore was opened",
    async () => {
      const move = aMove();
      const keystore = await aKeystore(move);
      const given = { id: ID, address: toHex(SELF), height: "1", at: new Date(0).toISOString() };
      const marks = [{ given, past: [ID] }, { taking: { id: ID }, past: [] }, { past: [ID] }];
      for (const mark of marks) {
        rmSync(join(move.old, "hand-over.json"), { force: true });
        expect(await startOld(move, keystore, () => writeHandOverMark(move.old, mark))).toBe("handedOver");
      }
      // Nothing new has happened now.
      expect(await startOld(move, keystore)).toBe("started");
    },
  );

  it("does not vote by a remote signer with a key that was given away", async () => {
    const move = aMove();
    await move.give();
    writeFileSync(join(move.old, "key"), toHex(account(7).privateKey));
    const signer = (key: Uint8Array) => ({
      "validator-signer-url": "http://127.0.0.1:1",
      "validator-signer-public-key": toHex(curve.publicKey(key)),
    });
    expect(await startOld(move, signer(KEY))).toBe("handedOver");
    expect(await startOld(move, signer(OTHER_VALIDATOR))).toBe("started");
  });
});

describe("a hand-over that is killed", () => {
  it.each(GIVING.map((step, index) => [step, index + 1] as const))(
    "on the giving side after its %s leaves the old node able to start, or the new one able to take over",
    async (step, count) => {
      const move = aMove();
      const settings = settingsOf(move, move.old);
      const work = (onStep: (step: string) => void) =>
        withStoppedFolder(settings, (folder) => handOver({ settings, to: move.file, onStep }, folder));
      expect(await killAfter(count, work)).toEqual(GIVING.slice(0, count));
      const isMarked = step !== "draft";
      expect(await startIn(move.old)).toBe(isMarked ? "handedOver" : toHex(SELF));
      expect(readHandOver(move.file).ok).toBe(step === "file");
      if (step !== "file") {
        const early = await move.take(move.fresh, `${move.file}.part`);
        expect(early).toMatchObject({ exitCode: 1, errors: expect.stringContaining("was not finished") });
      }
      const id = isMarked
        ? JSON.parse(readFileSync(join(move.old, "hand-over.json"), "utf8")).given.id
        : undefined;
      const again = await move.give();
      expect(again).toMatchObject({ exitCode: 0, errors: "" });
      if (id !== undefined) expect(again.output).toContain(`hand-over: ${id}\n`);
      expect((await move.take()).exitCode).toBe(0);
      expect([await startIn(move.old), await startIn(move.fresh)]).toEqual(["handedOver", toHex(SELF)]);
    },
  );

  it.each(TAKING.map((step, index) => [step, index + 1] as const))(
    "on the taking side after '%s' leaves both nodes unable to start until it is done again",
    async (step, count) => {
      const move = aMove();
      writeFileSync(join(move.fresh, "key"), toHex(account(7).privateKey));
      await move.give();
      const read = readHandOver(move.file);
      if (!read.ok) throw new Error(read.error.message);
      const settings = settingsOf(move, move.fresh);
      const work = (onStep: (step: string) => void) =>
        withStoppedFolder(settings, (folder) =>
          takeOver({ settings, handOver: read.value.handOver, places: [], onStep }, folder),
        );
      expect(await killAfter(count, work)).toEqual(TAKING.slice(0, count));
      expect([await startIn(move.old), await startIn(move.fresh)]).toEqual([
        "handedOver",
        step === "taken" ? toHex(SELF) : "handedOver",
      ]);
      const again = await move.take();
      expect(again.exitCode).toBe(step === "taken" ? 1 : 0);
      expect(await startIn(move.fresh)).toBe(toHex(SELF));
      expect(await recordIn(move.fresh)).toEqual(RECORD);
      const kept = readdirSync(move.fresh).filter((name) => name.startsWith("key.before-"));
      expect(kept).toHaveLength(1);
    },
  );
});

describe("taking a validator over", () => {
  it("is refused while a node with its key answers peers or JSON-RPC, and where something unknown listens", async () => {
    const move = aMove();
    await move.give();
    const own = nodeKey(KEY);
    const node = await listen((socket) => {
      const exchange = answerExchange({ privateKey: own.privateKey, nodeId: own.publicKey });
      const queue = new ByteQueue();
      socket.on("data", (chunk) => {
        queue.append(chunk);
        const keys = exchange.read(queue);
        if (keys.ok && keys.value?.ack !== undefined) socket.write(keys.value.ack);
      });
    });
    const proven = await move.take(move.fresh, move.file, `--old-node=127.0.0.1:${node}`);
    expect(proven).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining(`127.0.0.1:${node}: a node with this validator's key answers`),
    });
    const deaf = await listen((socket) => socket.destroy());
    const enode = `enode://${toHex(own.publicKey).slice(2)}@127.0.0.1:${deaf}`;
    expect((await move.take(move.fresh, move.file, `--old-node=${enode}`)).errors).toContain(
      `127.0.0.1:${deaf}: something listens there`,
    );
    expect(existsSync(join(move.fresh, "key"))).toBe(false);
    expect(await startIn(move.old)).toBe("handedOver");
    // Port 1 is silent.
    expect((await move.take(move.fresh, move.file, "--old-node=127.0.0.1:1")).exitCode).toBe(0);
  });

  it("is refused in the old folder, in that of another validator, and where the key is already", async () => {
    const move = aMove();
    await move.give();
    expect((await move.take(move.old)).errors).toContain("--undo");
    await importBlock(move.place, move.fresh);
    writeFileSync(join(move.fresh, "key"), toHex(OTHER_VALIDATOR));
    expect((await move.take()).errors).toContain("is that of another validator");
    writeFileSync(join(move.fresh, "key"), HEX_KEY);
    expect((await move.take()).errors).toContain("has the key of this validator already");
    expect(existsSync(join(move.fresh, "hand-over.json"))).toBe(false);
  });

  it("is refused when the old folder is here and lost its mark, and while a node runs in the new folder", async () => {
    const move = aMove();
    await move.give();
    const running = await openLevelDatabase({ path: join(move.fresh, "chain") });
    expect(await move.take()).toMatchObject({
      exitCode: 2,
      errors: expect.stringContaining("Another node is using this data folder"),
    });
    await running.close();
    rmSync(join(move.old, "hand-over.json"));
    expect(await move.take()).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("does not have the mark of this hand-over"),
    });
    expect(existsSync(join(move.fresh, "key"))).toBe(false);
  });

  it("is refused on another chain", async () => {
    const move = aMove();
    await move.give();
    writeFileSync(
      move.genesisFile,
      GENESIS_OF_FOUR.replace('"chainId":7', '"chainId":8').replace('"timestamp":"0x0"', '"timestamp":"0x1"'),
    );
    expect(await move.take()).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("The file is of another chain"),
    });
  });

  it("is refused with a file that is damaged anywhere, cut off, or something else", async () => {
    const move = aMove();
    await move.give();
    const sound = readFileSync(move.file);
    const other = join(move.place, "other");
    for (let at = 0; at < sound.length; at += IS_THOROUGH ? 1 : 7) {
      writeFileSync(other, Buffer.from(sound).fill((sound[at] ?? 0) ^ 1, at, at + 1));
      expect(readHandOver(other)).toMatchObject({ error: { code: "badHandOver" } });
      writeFileSync(other, sound.subarray(0, at));
      // Only the last line feed says nothing.
      expect(readHandOver(other).ok).toBe(at === sound.length - 1);
    }
    expect(readHandOver(move.place)).toMatchObject({
      error: { message: expect.stringContaining("is not a file") },
    });
    expect(readHandOver(`${other}-absent`)).toMatchObject({ error: { code: "badHandOver" } });
    writeFileSync(other, sound.subarray(0, sound.length >> 1));
    expect(await move.take(move.fresh, other)).toMatchObject({ exitCode: 1 });
    chmodSync(move.file, 0o644);
    expect((await move.take()).errors).toContain("Other users of this host may read the private key");
  });
});

describe("giving a validator away", () => {
  it("changes nothing when the file cannot be written or is there, when the node runs, and at genesis", async () => {
    const move = aMove();
    writeFileSync(move.file, "mine");
    expect((await move.give()).errors).toContain("exists already");
    expect(readFileSync(move.file, "utf8")).toBe("mine");
    expect((await move.give(`--to=${move.place}/absent/file`)).errors).toContain("does not exist");
    expect((await move.give("--to=/proc/file")).exitCode).toBe(74);
    const running = await openLevelDatabase({ path: join(move.old, "chain") });
    expect((await move.give(`--to=${move.file}2`)).exitCode).toBe(2);
    await running.close();
    for (const name of ["chain", "head.log"]) rmSync(join(move.old, name), { recursive: true });
    mkdirSync(join(move.old, "chain"));
    expect((await move.give(`--to=${move.file}2`)).errors).toContain("has no block yet");
    expect(await startIn(move.old)).toBe(toHex(SELF));
    expect((await move.give("--undo")).errors).toContain("No validator was handed over");
    expect((await move.give("--to=x", "--undo")).exitCode).toBe(2);
  });

  it("does not advise to undo what may run elsewhere when another validator was given away before", async () => {
    const move = aMove();
    await move.give();
    writeFileSync(join(move.old, "key"), toHex(OTHER_VALIDATOR));
    const { exitCode, errors } = await move.give(`--to=${move.file}2`);
    expect([exitCode, errors]).toEqual([1, expect.stringContaining("Do not undo the first one for it")]);
  });

  it("never follows a link that stands where it writes", async () => {
    const move = aMove();
    const target = join(move.place, "target");
    writeFileSync(target, "mine", { mode: 0o644 });
    symlinkSync(target, `${move.file}.part`);
    symlinkSync(target, join(move.old, "hand-over.json.new"));
    expect((await move.give()).exitCode).toBe(0);
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(lstatSync(move.file).isSymbolicLink()).toBe(false);
  });

  it("is undone: the votes are put aside, unless nobody has taken the validator", async () => {
    const move = aMove();
    await move.give();
    const undone = await move.give("--undo");
    expect(undone).toMatchObject({ exitCode: 0, errors: "" });
    expect(undone.output).toContain("It is silent at first");
    expect(await startIn(move.old)).toBe(toHex(SELF));
    expect(await recordIn(move.old)).toBeUndefined();
    expect(readdirSync(move.old).filter((name) => name.startsWith("votes.log.before-"))).toHaveLength(1);
    // On the same machine the new node sees it.
    expect((await move.take()).errors).toContain("does not have the mark of this hand-over");
  });

  it("is undone with its votes where the operator says that nobody has taken it, and not while the new node answers", async () => {
    const move = aMove();
    await move.give();
    const deaf = await listen((socket) => socket.destroy());
    expect((await move.give("--undo", `--new-node=127.0.0.1:${deaf}`)).exitCode).toBe(1);
    expect(await startIn(move.old)).toBe("handedOver");
    expect((await move.give("--undo", "--never-taken")).exitCode).toBe(0);
    expect(await recordIn(move.old)).toEqual(RECORD);
    expect((await move.take(move.old)).errors).toContain("was used in");
  });

  it("leaves a mark that stops the node even when it cannot be understood", async () => {
    const move = aMove();
    await move.give();
    const mark = join(move.old, "hand-over.json");
    writeFileSync(mark, "{");
    expect(await startIn(move.old)).toBe("unusableMark");
    truncateSync(mark, 3 * 1024 ** 3);
    expect(await startIn(move.old)).toBe("unusableMark");
  });
});

/** A server for peers; returns its port. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
