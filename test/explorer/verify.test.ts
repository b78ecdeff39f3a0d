import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import solc from "solc";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startCompilation } from "../../src/explorer/verify/compile.ts";
import type { StoreLimits } from "../../src/explorer/verify/contractStore.ts";
import { matchCode, releaseOf } from "../../src/explorer/verify/matchCode.ts";
import { readStandardInput } from "../../src/explorer/verify/standardInput.ts";
import { Verifier } from "../../src/explorer/verify/verifier.ts";
import {
  BYTES_OF_UNIT,
  MOST_READ_OF_HOST,
  READ_COST,
  REQUEST_BYTES,
} from "../../src/explorer/verify/verifyLimits.ts";
import { VerifyRoute } from "../../src/explorer/verify/verifyRoute.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import { PACKAGE_FOLDER } from "../../src/primitives/packageFolder.ts";
import { HttpAnswers } from "../../src/rpc/server/httpAnswers.ts";
import { Pipelines } from "../../src/rpc/server/pipelines.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { HANG_MS } from "../hang.ts";
import { itIfThorough } from "../thorough.ts";

const SOLJSON = createRequire(import.meta.url).resolve("solc/soljson.js");
const VERSION = `v${solc.version().split(".Emscripten")[0]}`;
const CONTRACT = `0x${"c0".repeat(20)}`;

/** Two files that import each other, a value that creation writes, and names that would leave a folder. */
const SOURCES = {
  "src/Coin.sol": {
    content: `pragma solidity ^0.8.0;
import "../../etc/Other.sol";
contract Coin { uint256 immutable born; constructor(uint256 at) { born = at; } function age() external view returns (uint256) { return block.timestamp - born; } }`,
  },
  "etc/Other.sol": {
    content: 'pragma solidity ^0.8.0; import "src/Coin.sol"; contract Other { Coin coin; }',
  },
};
const INPUT = {
  language: "Solidity",
  sources: { ...SOURCES, "../../../tmp/evil.sol": { content: "contract Evil {}" } },
  settings: { optimizer: { enabled: true, runs: 200 }, modelChecker: { engine: "all" } },
};

/** The code of Coin as it lies on a chain, where its immutable value is 5; with changed sources where asked. */
function deployedCode(change: (text: string) => string = (text) => text): Uint8Array {
  const sources = Object.fromEntries(
    Object.entries(INPUT.sources).map(([name, { content }]) => [name, { content: change(content) }]),
  );
  const selection = { "*": { "*": ["evm.deployedBytecode"] } };
  const settings = { optimizer: INPUT.settings.optimizer, outputSelection: selection };
  const output = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
  const { object, immutableReferences } = output.contracts["src/Coin.sol"].Coin.evm.deployedBytecode;
  const code = hexToBytes(`0x${object}`).slice();
  for (const { start, length } of Object.values(immutableReferences).flat() as {
    start: number;
    length: number;
  }[])
    code[start + length - 1] = 5;
  return code;
}

/** At the lowest priority it would hardly run beside other busy programs. */
const UNHURRIED = { limitMs: HANG_MS, limitCpuMs: HANG_MS, niceness: 0 };

/** Compiles at once in this process, for tests of what follows. */
const here: typeof startCompilation = ({ input, source, contract }) => {
  const outputSelection = { [source]: { [contract]: ["abi", "metadata", "evm.deployedBytecode"] } };
  const settings = { ...input.settings, outputSelection };
  const made = JSON.parse(solc.compile(JSON.stringify({ ...input, settings }))).contracts[source][contract];
  const { object, immutableReferences } = made.evm.deployedBytecode;
  const outcome = Promise.resolve({
    kind: "compiled" as const,
    abi: made.abi as unknown,
    sources: Object.keys(JSON.parse(made.metadata).sources),
    codes: [{ object: object as string, immutables: Object.values(immutableReferences).flat() as [] }],
  });
  return { outcome, kill: () => undefined };
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ibex-verify-"));
  copyFileSync(SOLJSON, join(folder, `soljson-${VERSION}.js`));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface World {
  code?: Uint8Array;
  isValidator?: boolean;
  start?: typeof startCompilation;
  logger?: Logger;
  storeLimits?: StoreLimits;
  /** Called with the number of each read of a code. */
  onCode?: (count: number) => void;
  /** Called with the units of each request. */
  spend?: (units: number) => boolean;
}

interface ApiAnswer {
  readonly status: string;
  readonly result: unknown;
}

/** A server that verifies, and tools' requests to it. */
async function aVerifier({
  isValidator = false,
  start = (job) => startCompilation(job, UNHURRIED),
  logger = silentLogger,
  storeLimits,
  onCode,
  ...world
}: World = {}) {
  const { code = deployedCode(), spend = () => true } = world;
  const chain = { code };
  let reads = 0;
  const verifier = new Verifier(
    {
      compilersPath: folder,
      contractsPath: join(folder, "contracts"),
      runsOnValidators: false,
      ...(storeLimits !== undefined && { storeLimits }),
    },
    {
      logger,
      async codeOf(address) {
        onCode?.(++reads);
        return address[0] === 0xc0 ? chain.code : undefined;
      },
      isValidator: async () => isValidator,
      start,
    },
  );
  onTestFinished(() => verifier.close());
  const route = new VerifyRoute({
    verifier,
    hostOf: () => "198.51.100.1",
    spend: (_host, units) => spend(units),
    pipelines: new Pipelines(silentLogger),
    answers: new HttpAnswers({ isPrettyPrinted: false }, { logger: silentLogger }),
  });
  const server = createServer((incoming, response) => route.answer(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const post = async (form: object): Promise<ApiAnswer> => {
    const body = new URLSearchParams({ module: "contract", ...form });
    return (await fetch(url, { method: "POST", body })).json() as Promise<ApiAnswer>;
  };
  const get = async (query: object): Promise<ApiAnswer> =>
    (
      await fetch(`${url}?${new URLSearchParams({ module: "contract", ...query })}`)
    ).json() as Promise<ApiAnswer>;
  const ask = (changes: object = {}): Promise<ApiAnswer> =>
    post({
      action: "verifysourcecode",
      contractaddress: CONTRACT,
      codeformat: "solidity-standard-json-input",
      contractname: "src/Coin.sol:Coin",
      compilerversion: VERSION,
      sourceCode: JSON.stringify(INPUT),
      ...changes,
    });
  const outcome = async (guid: unknown): Promise<ApiAnswer> => {
    for (;;) {
      const answer = await get({ action: "checkverifystatus", guid });
      if (answer.result !== "Pending in queue") return answer;
    }
  };
  return { url, chain, get, post, ask, outcome };
}

describe("the verification of contracts", () => {
  it("compiles what tools send, and answers its ABI and its sources from then on, also after a restart", async () => {
    const { get, ask, outcome } = await aVerifier();
    expect(await get({ action: "getabi", address: CONTRACT })).toMatchObject({ status: "0" });
    const asked = await ask();
    expect(asked).toMatchObject({ status: "1", result: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
    expect(await outcome(asked.result)).toEqual({ status: "1", message: "OK", result: "Pass - Verified" });
    const again = await aVerifier();
    const { result } = await again.get({ action: "getsourcecode", address: CONTRACT });
    const [one] = result as { SourceCode: string; ABI: string; ContractName: string; Match: string }[];
    expect(one).toMatchObject({ ContractName: "Coin", CompilerVersion: VERSION, Match: "exact" });
    expect(JSON.parse(one?.SourceCode.slice(1, -1) ?? "")).toMatchObject({ sources: SOURCES });
    expect(one?.SourceCode).not.toContain("Evil");
    expect(JSON.parse(String((await get({ action: "getabi", address: CONTRACT })).result))).toContainEqual(
      expect.objectContaining({ name: "age" }),
    );
    // Names of sources lead to no file.
    expect(readdirSync(join(folder, "contracts"))).toEqual([`${CONTRACT}.json`]);
    expect(readdirSync(folder).toSorted()).toEqual(["contracts", `soljson-${VERSION}.js`]);
  });

  itIfThorough("says where the metadata differ, and refuses other code", async () => {
    const commented = await aVerifier({ code: deployedCode((text) => `${text}// by another author`) });
    const { result } = await commented.ask();
    expect((await commented.outcome(result)).status).toBe("1");
    const sources = await commented.get({ action: "getsourcecode", address: CONTRACT });
    expect(sources.result).toMatchObject([{ Match: "partial" }]);
    const other = await aVerifier({ code: deployedCode((text) => text.replace("- born", "+ born")) });
    const asked = await other.ask();
    expect(await other.outcome(asked.result)).toEqual({
      status: "0",
      message: "NOTOK: the compiled code differs from that of the contract",
      result: "Fail - Unable to verify",
    });
  });

  it("refuses at once what it cannot compile, with the reason", async () => {
    const { ask, url } = await aVerifier();
    const bare = { language: "Solidity", sources: { "src/Coin.sol": { urls: ["file:///etc/passwd"] } } };
    for (const [changes, reason] of [
      [{ contractaddress: `0x${"11".repeat(20)}` }, "Unable to locate ContractCode"],
      [{ compilerversion: "v0.1.1+commit.aaaaaaaa" }, "has no compiler"],
      [{ compilerversion: "../../x" }, "has no compiler"],
      [{ codeformat: "solidity-single-file" }, "Only the code format"],
      [{ contractname: "Coin" }, "contractname"],
      [{ contractname: "src/Gold.sol:Gold" }, "no file of that name"],
      [{ sourceCode: "{{{" }, "not a JSON object"],
      [{ sourceCode: "[".repeat(100_000) }, "not a JSON object"],
      [{ sourceCode: JSON.stringify({ ...INPUT, language: "Yul" }) }, "Only Solidity"],
      [{ sourceCode: JSON.stringify(bare) }, "URLs are not read"],
    ] as const)
      expect(await ask(changes), reason).toMatchObject({
        status: "0",
        result: expect.stringContaining(reason) as string,
      });
    const huge = await fetch(url, { method: "POST", body: new Uint8Array(REQUEST_BYTES + 1) });
    expect(huge.status).toBe(413);
    const validator = await aVerifier({ isValidator: true });
    expect(await validator.ask()).toMatchObject({ result: expect.stringContaining("validator") as string });
  });

  it("answers settings of many brackets, a form of many fields, and data that cannot be read", async () => {
    const { ask, get, url } = await aVerifier();
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const settings = `{"language":"Solidity","sources":{"src/Coin.sol":{"content":""}},"settings":{"libraries":${deep}}}`;
    expect(await ask({ sourceCode: settings })).toMatchObject({
      status: "0",
      result: expect.stringContaining("not a JSON object") as string,
    });
    const many = await fetch(url, { method: "POST", body: new Uint8Array(2_000_000).fill(38) });
    expect(many.status).toBe(413);
    mkdirSync(join(folder, "contracts", `${CONTRACT}.json`));
    const again = await aVerifier();
    expect(await again.get({ action: "getabi", address: CONTRACT })).toMatchObject({ status: "0" });
    rmSync(join(folder, "contracts", `${CONTRACT}.json`), { recursive: true });
    expect(await again.get({ action: "getabi", address: CONTRACT })).toMatchObject({ status: "0" });
    expect((await get({ action: "getcompilers" })).result).toEqual([VERSION]);
  });

  itIfThorough("compiles the next one after one whose contract cannot be read any more", async () => {
    const { ask, outcome } = await aVerifier({
      start: () => ({
        outcome: Promise.resolve({
          kind: "compiled",
          abi: [],
          codes: [{ object: "00", immutables: [] }],
          sources: [],
        }),
        kill: () => undefined,
      }),
      onCode: (count) => {
        if (count === 2) throw new Error("the disk is gone");
      },
    });
    for (const reason of ["Fail - The node cannot judge this now.", "Fail - Unable to verify"])
      expect((await outcome((await ask()).result)).result).toBe(reason);
  });

  itIfThorough(
    "tells what the compiler complains of: an import that is not sent, and a name that is not there",
    async () => {
      const { ask, outcome } = await aVerifier();
      const sources = { "src/Coin.sol": { content: 'import "/etc/passwd"; contract Coin {}' } };
      const { result } = await ask({ sourceCode: JSON.stringify({ language: "Solidity", sources }) });
      expect((await outcome(result)).result).toMatch(/^Fail - .*not found/s);
      const gold = await ask({ contractname: "src/Coin.sol:Gold" });
      expect((await outcome(gold.result)).result).toContain("no contract of this name");
    },
  );

  it("compiles one at a time, and lets no host take all places", async () => {
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const start: typeof startCompilation = () => {
      most = Math.max(most, ++running);
      const outcome = new Promise<{ kind: "failed"; message: string }>((resolve) =>
        ends.push(() => {
          running--;
          resolve({ kind: "failed", message: "toy" });
        }),
      );
      return { outcome, kill: () => undefined };
    };
    const { ask, outcome } = await aVerifier({ start });
    const [first, second, third] = [await ask(), await ask(), await ask()];
    expect([first.status, second.status]).toEqual(["1", "1"]);
    expect(third).toMatchObject({ status: "0", result: expect.stringContaining("Too many") as string });
    for (const { result } of [first, second]) {
      ends.shift()?.();
      expect((await outcome(result)).result).toBe("Fail - toy");
    }
    expect(most).toBe(1);
  });

  it("tells after a while that there is no outcome yet, and an outcome as soon as there is one", async () => {
    let end: () => void = () => undefined;
    const promise = new Promise<{ kind: "failed"; message: string }>((resolve) => {
      end = () => resolve({ kind: "failed", message: "toy" });
    });
    const verifier = new Verifier(
      { compilersPath: folder, contractsPath: join(folder, "contracts"), runsOnValidators: true },
      {
        logger: silentLogger,
        codeOf: async () => Uint8Array.of(1),
        isValidator: async () => true,
        start: () => ({ outcome: promise, kill: () => undefined }),
      },
    );
    const input = { language: "Solidity", sources: {}, settings: {} } as const;
    const address = addressFromHex(CONTRACT);
    const asked = await verifier.ask({
      ...{ remoteHost: "198.51.100.1", address, compiler: VERSION, input, source: "a", name: "b" },
    });
    const id = "id" in asked ? asked.id : "";
    expect(await verifier.outcomeOf(id, 1)).toBe("pending");
    const outcome = verifier.outcomeOf(id, HANG_MS);
    end();
    expect(await outcome).toEqual({ problem: "toy" });
    expect(await verifier.outcomeOf("none", HANG_MS)).toBeUndefined();
  });

  it("kills a compiler that does not end in time", async () => {
    const input = readStandardInput(JSON.stringify(INPUT));
    if (!input.ok) throw new Error("the input is sound");
    const job = { compilerPath: join(folder, `soljson-${VERSION}.js`), input: input.value };
    const { outcome } = startCompilation(
      { ...job, source: "src/Coin.sol", contract: "Coin" },
      { limitMs: 1 },
    );
    expect(await outcome).toEqual({ kind: "failed", message: "The compiler took longer than 0.001 s." });
  });

  it("kills a compiler that takes too much of a processor's time", async () => {
    const compilerPath = join(folder, "soljson-v0.0.1+commit.00000000.js");
    writeFileSync(compilerPath, "for (;;) {}");
    const input = { language: "Solidity", sources: {}, settings: {} } as const;
    const job = { compilerPath, input, source: "a", contract: "b" };
    const { outcome } = startCompilation(job, { ...UNHURRIED, limitCpuMs: 10 });
    expect(await outcome).toEqual({
      kind: "failed",
      message: "The compiler took more than 0.01 s of a processor's time.",
    });
  });

  itIfThorough("compiles at a lower priority", async () => {
    const compilerPath = join(folder, "soljson-v0.0.1+commit.00000000.js");
    writeFileSync(
      compilerPath,
      `const formattedMessage = "niceness " + require("node:os").getPriority();
module.exports = { cwrap: () => () => JSON.stringify({ errors: [{ severity: "error", formattedMessage }] }) };`,
    );
    const input = { language: "Solidity", sources: {}, settings: {} } as const;
    const job = { compilerPath, input, source: "a", contract: "b" };
    const { outcome } = startCompilation(job, { ...UNHURRIED, niceness: 3 });
    expect(await outcome).toEqual({ kind: "failed", message: "niceness 3" });
  });

  itIfThorough("compiles for libraries that were linked afterwards as well", async () => {
    const sources = {
      "a.sol": {
        content: `library Sums { function sum(uint256 a) external pure returns (uint256) { return a + a; } }
contract Ledger { function twice(uint256 a) external pure returns (uint256) { return Sums.sum(a); } }`,
      },
    };
    const library = `0x${"Ab".repeat(20)}`;
    const libraries = { "a.sol": { Sums: library } };
    const outputSelection = { "*": { "*": ["evm.deployedBytecode"] } };
    const compiled = (settings: object): { readonly object: string } =>
      JSON.parse(
        solc.compile(
          JSON.stringify({ language: "Solidity", sources, settings: { ...settings, outputSelection } }),
        ),
      ).contracts["a.sol"].Ledger.evm.deployedBytecode;
    const input = { language: "Solidity" as const, sources, settings: { libraries } };
    const job = { compilerPath: join(folder, `soljson-${VERSION}.js`), input };
    const outcome = await startCompilation({ ...job, source: "a.sol", contract: "Ledger" }, UNHURRIED)
      .outcome;
    const linked = compiled({}).object.replaceAll(/__\$.{34}\$__/g, "ab".repeat(20));
    expect(outcome).toMatchObject({
      codes: [{ object: compiled({ libraries }).object }, { object: linked }],
    });
    expect(linked).not.toBe(compiled({ libraries }).object);
  });

  it("drops settings that do not shape code, such as a model checker", () => {
    const input = readStandardInput(JSON.stringify(INPUT));
    expect(input.ok && input.value.settings).toEqual({ optimizer: { enabled: true, runs: 200 } });
  });

  itIfThorough(
    "keeps the first sources of a code but for an exact match, after which it compiles none",
    async () => {
      const { ask, outcome, get } = await aVerifier({ start: here });
      const commented = (comment: string): object => ({
        ...INPUT,
        sources: {
          ...SOURCES,
          "src/Coin.sol": { content: `${SOURCES["src/Coin.sol"].content}// ${comment}` },
        },
      });
      const shown = async (): Promise<string> =>
        JSON.stringify((await get({ action: "getsourcecode", address: CONTRACT })).result);
      const made = async (input: object): Promise<unknown> => {
        const { result } = await ask({ sourceCode: JSON.stringify(input) });
        return (await outcome(result)).result;
      };
      expect(await made(commented("first"))).toBe("Pass - Verified");
      expect(await made(commented("second"))).toBe("Already Verified");
      expect(await shown()).toMatch(/first.*"Match":"partial"/);
      expect(await made(INPUT)).toBe("Pass - Verified");
      expect(await shown()).toMatch(/"Match":"exact"/);
      expect(await ask({ sourceCode: JSON.stringify(commented("third")) })).toMatchObject({
        status: "0",
        result: "Contract source code already verified",
      });
    },
  );

  itIfThorough(
    "shows no sources any more where the code has changed, until they are verified again",
    async () => {
      const { chain, ask, outcome, get } = await aVerifier({ start: here });
      const isShown = async (): Promise<readonly unknown[]> => [
        (await get({ action: "getabi", address: CONTRACT })).status,
        (await get({ action: "getcontract", address: CONTRACT })).status,
        (await get({ action: "getsourcecode", address: CONTRACT })).result,
      ];
      expect((await outcome((await ask()).result)).status).toBe("1");
      const { code } = chain;
      chain.code = Uint8Array.of(0x60, 0x00);
      expect(await isShown()).toMatchObject(["0", "0", [{ SourceCode: "" }]]);
      chain.code = new Uint8Array(0);
      expect(await isShown()).toMatchObject(["0", "0", [{ SourceCode: "" }]]);
      chain.code = code;
      expect(await isShown()).toMatchObject(["1", "1", [{ ContractName: "Coin" }]]);
    },
  );

  it("takes more units for long sources, and tells a contract without them", async () => {
    const spent: number[] = [];
    let isPoor = false;
    const spend = (units: number): boolean => {
      spent.push(units);
      return !(isPoor && units > READ_COST);
    };
    const content = `${SOURCES["src/Coin.sol"].content}// ${"x".repeat(20 * BYTES_OF_UNIT)}`;
    const long = { ...INPUT, sources: { ...SOURCES, "src/Coin.sol": { content } } };
    const { ask, outcome, get } = await aVerifier({ start: here, spend });
    expect((await outcome((await ask({ sourceCode: JSON.stringify(long) })).result)).status).toBe("1");
    spent.length = 0;
    await get({ action: "getsourcecode", address: CONTRACT });
    expect(spent).toEqual([READ_COST, 21]);
    isPoor = true;
    expect(await get({ action: "getsourcecode", address: CONTRACT })).toMatchObject({
      status: "0",
      result: expect.stringContaining("Too many") as string,
    });
    spent.length = 0;
    expect(await get({ action: "getcontract", address: CONTRACT })).toMatchObject({
      status: "1",
      result: { name: "Coin", compiler: VERSION, match: "partial" },
    });
    expect(spent).toEqual([READ_COST]);
  });

  it("reads few requests of one host at once", async () => {
    const { url, ask } = await aVerifier();
    const slow = Array.from({ length: MOST_READ_OF_HOST }, () => {
      const sending = request(url, { method: "POST", headers: { "Content-Length": 1_000 } });
      sending.on("error", () => undefined);
      sending.write("module=");
      return sending;
    });
    const isRefused = async (): Promise<boolean> =>
      String((await ask()).result).startsWith("Too many requests");
    await expect.poll(isRefused).toBe(true);
    for (const sending of slow) sending.destroy();
    await expect.poll(isRefused).toBe(false);
  });

  it("refuses before it compiles once it keeps as much as it may, says so to its operator, and forgets nothing", async () => {
    const { logger, lines } = loggedLines();
    const first = await aVerifier({ start: here });
    expect((await first.outcome((await first.ask()).result)).status).toBe("1");
    const { size } = statSync(join(folder, "contracts", `${CONTRACT}.json`));
    let compiled = 0;
    const start: typeof startCompilation = (job) => {
      compiled++;
      return here(job);
    };
    const other = `0xc0${"0f".repeat(19)}`;
    for (const storeLimits of [
      { contracts: 1, bytes: 2 * size },
      { contracts: 2, bytes: size + 50 },
    ]) {
      const { ask, get } = await aVerifier({ start, storeLimits, logger });
      expect(await ask({ contractaddress: other })).toEqual({
        status: "0",
        message: "NOTOK",
        result:
          "The node has no more room for verified contracts: it keeps 1, of 0.0 MB. Its operator has to delete some.",
      });
      expect((await get({ action: "getabi", address: CONTRACT })).status).toBe("1");
    }
    expect(compiled).toBe(0);
    const nearly = await aVerifier({ start, storeLimits: { contracts: 2, bytes: 2 * size - 10 }, logger });
    expect((await nearly.outcome((await nearly.ask({ contractaddress: other })).result)).result).toMatch(
      /^Fail - The node has no more room for verified contracts: it keeps 1,/,
    );
    expect(compiled).toBe(1);
    expect(readdirSync(join(folder, "contracts"))).toEqual([`${CONTRACT}.json`]);
    expect(lines.map(({ level, message }) => [level, message])).toEqual(
      Array.from({ length: 3 }, () => [
        "WARN",
        "no more verified contracts are kept; delete some while the node is stopped",
      ]),
    );
  });

  it("removes what a killed node has left of a contract", async () => {
    mkdirSync(join(folder, "contracts"));
    writeFileSync(join(folder, "contracts", `${CONTRACT}.json.draft`), "{");
    await aVerifier();
    expect(readdirSync(join(folder, "contracts"))).toEqual([]);
  });

  itIfThorough("leaves no compiler behind when the node is killed", async () => {
    const endless = join(folder, "soljson-v0.0.1+commit.00000000.js");
    const begun = join(folder, "begun");
    writeFileSync(
      endless,
      `require("node:fs").writeFileSync(${JSON.stringify(begun)}, String(process.pid)); for (;;) {}`,
    );
    const worker = pathToFileURL(join(PACKAGE_FOLDER, "dist", "compilerWorker.js"));
    const parent = `
      const { fork } = require("node:child_process");
      const child = fork(require("node:url").fileURLToPath(${JSON.stringify(worker)}), { stdio: ["ignore", "ignore", "ignore", "ipc"] });
      child.send({ compilerPath: ${JSON.stringify(endless)}, input: {}, source: "a", contract: "b" });
    `;
    const node = spawn(process.execPath, ["-e", parent]);
    const isBegun = (): boolean => existsSync(begun) && readFileSync(begun, "utf8") !== "";
    await expect.poll(isBegun, { timeout: HANG_MS }).toBe(true);
    node.kill("SIGKILL");
    await once(node, "exit");
    const pid = Number(readFileSync(begun, "utf8"));
    const isRunning = (): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning, { timeout: HANG_MS }).toBe(false);
  });

  it("reads the release of solc in the metadata of a code", () => {
    expect(releaseOf(hexToBytes("0x6001a164736f6c6343000818000a"))).toBe("0.8.24");
    expect(releaseOf(hexToBytes("0x6001"))).toBeUndefined();
    // Not metadata, since other bytes are there too.
    expect(releaseOf(hexToBytes("0x6001a16464736f6c6343000818000b"))).toBeUndefined();
  });

  it("takes nothing for metadata but what compilers append", () => {
    const hash = "12".repeat(34);
    const metadata = (ipfs: string): string => `a264697066735822${ipfs}64736f6c63430008180033`;
    const one = { object: `6001${metadata(hash)}`, immutables: [] };
    expect(matchCode(hexToBytes(`0x${one.object}`), one)).toBe("exact");
    expect(matchCode(hexToBytes(`0x6001${metadata("34".repeat(34))}`), one)).toBe("partial");
    expect(matchCode(hexToBytes(`0x6002${metadata(hash)}`), one)).toBeUndefined();
    // Code of which all but the beginning is called a map.
    const made = { object: "6001a111111111110006", immutables: [] };
    expect(matchCode(hexToBytes("0x6001a122222222220006"), made)).toBeUndefined();
    // The metadata have no hash, so they cover no names.
    const bare = { object: "6001a164736f6c6343000818000a", immutables: [] };
    expect(matchCode(hexToBytes(`0x${bare.object}`), bare)).toBe("partial");
  });

  it("takes code with libraries that are not linked, or of another length, for other code", () => {
    const code = Uint8Array.of(0x60, 0x01);
    expect(matchCode(code, { object: "6001", immutables: [] })).toBe("partial");
    expect(matchCode(code, { object: "600102", immutables: [] })).toBeUndefined();
    expect(matchCode(code, { object: "__$a$__", immutables: [] })).toBeUndefined();
    expect(matchCode(new Uint8Array(0), { object: "", immutables: [] })).toBeUndefined();
  });
});
