import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TOKEN_SOURCE } from "../token.ts";

const packages = createRequire(import.meta.url);

/** What the project needs besides the compiler, which is that of node_modules. */
const NEEDED = ["hardhat@^2.26.0", "@nomicfoundation/hardhat-toolbox@^6.1.0"];

export interface HardhatProject {
  /** Runs the tests against the node at a port; resolves to the seconds from the start of the command to its end. */
  test(port: number): Promise<number>;
  remove(): void;
}

/** Installs an ordinary project for Hardhat 2 with so many short tests from the registry of packages, and compiles its contract. */
export async function installHardhatProject(tests: number): Promise<HardhatProject> {
  const folder = mkdtempSync(join(tmpdir(), "hardhat-bench-"));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await run("npm", ["install", "--no-audit", "--no-fund", ...NEEDED], folder, {});
  const { version: longVersion } = packages("solc") as { version(): string };
  const settings = {
    SOLJSON: packages.resolve("solc/soljson.js"),
    SOLC_VERSION: longVersion().replace(".Emscripten.clang", ""),
    TESTS: `${tests}`,
  };
  await run("npx", ["hardhat", "compile"], folder, settings);
  return {
    async test(port) {
      const startedAtMs = performance.now();
      const output = await run("npx", ["hardhat", "test", "--no-compile", "--network", "localhost"], folder, {
        ...settings,
        RPC_URL: `http://127.0.0.1:${port}`,
      });
      const seconds = (performance.now() - startedAtMs) / 1000;
      if (!output.includes(`${tests} passing`)) throw new Error(`not all tests passed:\n${output}`);
      return seconds;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Resolves to what the command printed; rejects if it fails. */
function run(
  command: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", ...environment },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(" ")} failed:\n${output}`));
    });
  });
}

const CONFIG = `require("@nomicfoundation/hardhat-toolbox");
const { subtask } = require("hardhat/config");
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require("hardhat/builtin-tasks/task-names");
const { SOLC_VERSION: longVersion, SOLJSON: compilerPath, RPC_URL: url = "http://127.0.0.1:8545" } = process.env;
const version = longVersion.split("+")[0];
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({ version, longVersion, isSolcJs: true, compilerPath }));
module.exports = { solidity: { version, settings: { evmVersion: "paris" } }, networks: { localhost: { url } } };
`;

/** The tests of the bare requests (suite.ts), in the words of Hardhat's tools. */
const TESTS = `const {
  impersonateAccount, loadFixture, setBalance, stopImpersonatingAccount, time,
} = require("@nomicfoundation/hardhat-toolbox/network-helpers");
const { expect } = require("chai");
const { ethers } = require("hardhat");

// Some nodes answer before a block has the transaction.
async function mined(sending) {
  const sent = await sending;
  await sent.wait();
  return sent;
}

describe("a token", () => {
  const SUPPLY = 1_000_000n;

  async function deployed() {
    const [owner, other] = await ethers.getSigners();
    const token = await ethers.deployContract("Token", [[owner.address], SUPPLY]);
    return { token, owner, other };
  }

  const KINDS = {
    "counts transfers": async () => {
      const { token, owner, other } = await loadFixture(deployed);
      for (const value of [1n, 2n])
        await expect(mined(token.transfer(other.address, value)))
          .to.emit(token, "Transfer").withArgs(owner.address, other.address, value);
      expect(await token.balanceOf(other.address)).to.equal(3n);
      expect(await token.balanceOf(owner.address)).to.equal(SUPPLY - 3n);
    },
    "lets nobody take more than is allowed": async () => {
      const { token, owner, other } = await loadFixture(deployed);
      await mined(token.approve(other.address, 5n));
      await expect(token.connect(other).transferFrom.staticCall(owner.address, other.address, 6n))
        .to.be.revertedWith("allowance too low");
      await mined(token.connect(other).transferFrom(owner.address, other.address, 5n));
      expect(await token.balanceOf(other.address)).to.equal(5n);
    },
    "is transferred at a later time": async () => {
      const { token, other } = await loadFixture(deployed);
      await time.increase(86_400);
      const at = (await time.latest()) + 3600;
      await time.setNextBlockTimestamp(at);
      const sent = await mined(token.transfer(other.address, 7n));
      expect((await sent.getBlock()).timestamp).to.equal(at);
    },
    "is sent by an account without a key": async () => {
      const { token, owner } = await loadFixture(deployed);
      const keyless = ethers.getAddress("0x" + "a11ce".padStart(40, "0"));
      await setBalance(keyless, 10n ** 19n);
      await impersonateAccount(keyless);
      await mined(token.transfer(keyless, 9n));
      await mined(token.connect(await ethers.getSigner(keyless)).transfer(owner.address, 4n));
      await stopImpersonatingAccount(keyless);
      expect(await token.balanceOf(keyless)).to.equal(5n);
    },
  };

  const kinds = Object.entries(KINDS);
  for (let number = 0; number < Number(process.env.TESTS); number++) {
    const [kind, test] = kinds[number % kinds.length];
    it(\`\${number} \${kind}\`, test);
  }
});
`;

const FILES: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "suite", "version": "1.0.0", "private": true }\n`,
  "hardhat.config.js": CONFIG,
  "contracts/Token.sol": TOKEN_SOURCE,
  "test/token.js": TESTS,
};
