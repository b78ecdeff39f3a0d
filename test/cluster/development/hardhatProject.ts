import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { temporaryFolder, watched } from "../harness/nodeProcess.ts";

const packages = createRequire(import.meta.url);

/** What the project needs besides the compiler and OpenZeppelin's contracts, which are those of node_modules. */
const NEEDED = ["hardhat@^2.26.0", "@nomicfoundation/hardhat-toolbox@^6.1.0"];

/** What a command printed, and its exit code. */
interface Ended {
  readonly output: string;
  readonly exitCode: number | null;
}

export interface HardhatProject {
  /** Runs its tests against the network at `url`. */
  test(url: string): Promise<Ended>;
  /** Deploys its locker to the network at `url` with Ignition. */
  deploy(url: string): Promise<Ended>;
}

/**
 * Creates two ordinary projects for Hardhat 2 in one, and installs what they need from the registry of packages; undefined where there
 * is none, or where its packages do not run.
 */
export async function openHardhatProject(): Promise<HardhatProject | undefined> {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const installed = await run("npm", ["install", "--no-audit", "--no-fund", ...NEEDED], folder, {});
  if (installed.exitCode !== 0) return undefined;
  const { version: longVersion } = packages("solc") as { version(): string };
  const compiler = {
    SOLJSON: packages.resolve("solc/soljson.js"),
    SOLC_VERSION: longVersion().replace(".Emscripten.clang", ""),
    OPEN_ZEPPELIN: dirname(packages.resolve("@openzeppelin/contracts/package.json")),
  };
  const hardhat = (url: string, ...args: readonly string[]): Promise<Ended> =>
    run("npx", ["hardhat", ...args, "--network", "localhost"], folder, { ...compiler, RPC_URL: url });
  return {
    test: (url) => hardhat(url, "test"),
    deploy: (url) => hardhat(url, "ignition", "deploy", "ignition/modules/locker.js"),
  };
}

async function run(
  command: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const options = {
    ...process.env,
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    HARDHAT_DISABLE_TELEMETRY_PROMPT: "true",
    HARDHAT_IGNITION_CONFIRM_DEPLOYMENT: "false",
  };
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...options, ...environment },
  });
  const { exit, output } = watched(child);
  const exitCode = await exit;
  return { output: output(), exitCode };
}

const CONFIG = `require("@nomicfoundation/hardhat-toolbox");
const { cpSync } = require("node:fs");
const { subtask } = require("hardhat/config");
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require("hardhat/builtin-tasks/task-names");
const { SOLC_VERSION: longVersion, SOLJSON: compilerPath, OPEN_ZEPPELIN, RPC_URL: url } = process.env;
cpSync(OPEN_ZEPPELIN, "node_modules/@openzeppelin/contracts", { recursive: true });
const version = longVersion.split("+")[0];
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({ version, longVersion, isSolcJs: true, compilerPath }));
module.exports = { solidity: { version, settings: { evmVersion: "cancun" } }, networks: { localhost: { url } } };
`;

export const LOCKER = `// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Pays its owner out after a time.
contract Locker {
    uint256 public immutable opensAt;
    address payable public immutable owner;

    event Opened(uint256 amount, uint256 at);

    error TooEarly(uint256 opensAt, uint256 now_);

    constructor(uint256 time) payable {
        require(time > block.timestamp, "time has passed");
        opensAt = time;
        owner = payable(msg.sender);
    }

    function open() external {
        if (block.timestamp < opensAt) revert TooEarly(opensAt, block.timestamp);
        require(msg.sender == owner, "not the owner");
        emit Opened(address(this).balance, block.timestamp);
        owner.transfer(address(this).balance);
    }
}
`;

const VAULT = `// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

contract Coin is ERC20, Ownable {
    constructor(uint256 supply) ERC20("Coin", "COIN") Ownable(msg.sender) {
        _mint(msg.sender, supply);
    }

    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }
}

/// Keeps coins for a minimum time, and pays a thousandth of them a day.
contract Vault {
    struct Deposit {
        uint256 amount;
        uint256 since;
    }

    ERC20 public immutable coin;
    mapping(address => Deposit) public deposits;
    bytes32 public lastHash;

    event Deposited(address indexed who, uint256 amount);
    event Withdrawn(address indexed who, uint256 amount, uint256 interest);

    error NothingHere(address who);
    error StillLocked(uint256 secondsLeft);

    constructor(ERC20 coin_) {
        coin = coin_;
    }

    receive() external payable {}

    function deposit(uint256 amount) external {
        require(amount > 0, "nothing to deposit");
        coin.transferFrom(msg.sender, address(this), amount);
        deposits[msg.sender] = Deposit(deposits[msg.sender].amount + amount, block.timestamp);
        emit Deposited(msg.sender, amount);
    }

    function withdraw() external {
        Deposit memory kept = deposits[msg.sender];
        if (kept.amount == 0) revert NothingHere(msg.sender);
        uint256 time = block.timestamp - kept.since;
        if (time < 1 days) revert StillLocked(1 days - time);
        delete deposits[msg.sender];
        uint256 interest = (kept.amount * time) / (1000 days);
        coin.transfer(msg.sender, kept.amount + interest);
        emit Withdrawn(msg.sender, kept.amount, interest);
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    function fail() external pure {
        revert();
    }
}
`;

const LOCKER_TESTS = `const { time, loadFixture, mine, takeSnapshot } = require("@nomicfoundation/hardhat-toolbox/network-helpers");
const { anyValue } = require("@nomicfoundation/hardhat-chai-matchers/withArgs");
const { expect } = require("chai");
const { ethers } = require("hardhat");

describe("a locker", () => {
  const YEAR = 365 * 24 * 60 * 60;

  async function deployed() {
    const opensAt = (await time.latest()) + YEAR;
    const [owner, other] = await ethers.getSigners();
    const locker = await ethers.deployContract("Locker", [opensAt], { value: 1_000_000_000n });
    return { locker, opensAt, owner, other };
  }

  it("knows when it opens, and its owner", async () => {
    const { locker, opensAt, owner } = await loadFixture(deployed);
    expect(await locker.opensAt()).to.equal(opensAt);
    expect(await locker.owner()).to.equal(owner.address);
  });

  it("holds what it was given", async () => {
    const { locker } = await loadFixture(deployed);
    expect(await ethers.provider.getBalance(locker.target)).to.equal(1_000_000_000n);
  });

  it("cannot be made for a time that has passed", async () => {
    const factory = await ethers.getContractFactory("Locker");
    await expect(factory.deploy(await time.latest(), { value: 1 })).to.be.revertedWith("time has passed");
  });

  it("does not open too early", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await expect(locker.open()).to.be.revertedWithCustomError(locker, "TooEarly").withArgs(opensAt, anyValue);
  });

  it("opens for nobody but its owner", async () => {
    const { locker, opensAt, other } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.connect(other).open()).to.be.revertedWith("not the owner");
  });

  it("opens for its owner", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.open()).not.to.be.reverted;
  });

  it("says what it paid, and when", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.open()).to.emit(locker, "Opened").withArgs(1_000_000_000n, anyValue);
  });

  it("pays its owner", async () => {
    const { locker, opensAt, owner } = await loadFixture(deployed);
    await time.increaseTo(opensAt);
    await expect(locker.open()).to.changeEtherBalances([owner, locker], [1_000_000_000n, -1_000_000_000n]);
  });

  it("opens in the very second", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    await time.setNextBlockTimestamp(opensAt);
    await expect(locker.open()).to.emit(locker, "Opened").withArgs(anyValue, opensAt);
  });

  it("is in a chain of which blocks can be mined", async () => {
    await loadFixture(deployed);
    const before = await time.latestBlock();
    await mine(5);
    expect(await time.latestBlock()).to.be.at.least(before + 5);
  });

  it("is as it was after going back", async () => {
    const { locker, opensAt } = await loadFixture(deployed);
    const snapshot = await takeSnapshot();
    await time.increaseTo(opensAt);
    await locker.open();
    expect(await ethers.provider.getBalance(locker.target)).to.equal(0n);
    await snapshot.restore();
    expect(await ethers.provider.getBalance(locker.target)).to.equal(1_000_000_000n);
    await expect(locker.open()).to.be.revertedWithCustomError(locker, "TooEarly");
  });
});
`;

const VAULT_TESTS = `const {
  impersonateAccount, loadFixture, setBalance, setCode, setNonce, setStorageAt, getStorageAt, stopImpersonatingAccount, time,
} = require("@nomicfoundation/hardhat-toolbox/network-helpers");
const { PANIC_CODES } = require("@nomicfoundation/hardhat-chai-matchers/panic");
const { expect } = require("chai");
const { ethers } = require("hardhat");

describe("a vault of coins", () => {
  async function deployed() {
    const [owner, alice, bob] = await ethers.getSigners();
    const coin = await ethers.deployContract("Coin", [1_000_000n]);
    const vault = await ethers.deployContract("Vault", [coin.target]);
    await coin.transfer(alice.address, 1000n);
    await coin.transfer(vault.target, 10_000n);
    await coin.connect(alice).approve(vault.target, 1000n);
    return { coin, vault, owner, alice, bob };
  }

  it("has no deposits at first", async () => {
    const { vault, alice } = await loadFixture(deployed);
    expect((await vault.deposits(alice.address)).amount).to.equal(0n);
  });

  it("moves coins with a deposit", async () => {
    const { coin, vault, alice } = await loadFixture(deployed);
    await expect(vault.connect(alice).deposit(400n)).to.changeTokenBalances(coin, [alice, vault], [-400n, 400n]);
  });

  it("shows a deposit without anybody waiting for it", async () => {
    const { vault, alice } = await loadFixture(deployed);
    await vault.connect(alice).deposit(400n);
    expect((await vault.deposits(alice.address)).amount).to.equal(400n);
  });

  it("emits events of both contracts", async () => {
    const { coin, vault, alice } = await loadFixture(deployed);
    await expect(vault.connect(alice).deposit(5n))
      .to.emit(vault, "Deposited").withArgs(alice.address, 5n)
      .and.to.emit(coin, "Transfer").withArgs(alice.address, vault.target, 5n);
  });

  it("does not emit what did not happen", async () => {
    const { coin, vault, alice } = await loadFixture(deployed);
    await expect(coin.connect(alice).transfer(vault.target, 1n)).not.to.emit(vault, "Deposited");
  });

  it("refuses a deposit of nothing, with a reason", async () => {
    const { vault, alice } = await loadFixture(deployed);
    await expect(vault.connect(alice).deposit(0n)).to.be.revertedWith("nothing to deposit");
  });

  it("refuses more than the allowance, with the coin's error", async () => {
    const { coin, vault, alice } = await loadFixture(deployed);
    await expect(vault.connect(alice).deposit(2000n))
      .to.be.revertedWithCustomError(coin, "ERC20InsufficientAllowance").withArgs(vault.target, 1000n, 2000n);
  });

  it("has nothing for who deposited nothing", async () => {
    const { vault, bob } = await loadFixture(deployed);
    await expect(vault.connect(bob).withdraw()).to.be.revertedWithCustomError(vault, "NothingHere").withArgs(bob.address);
  });

  it("is locked for a day, to the second", async () => {
    const { vault, alice } = await loadFixture(deployed);
    await vault.connect(alice).deposit(1000n);
    const { since } = await vault.deposits(alice.address);
    await time.setNextBlockTimestamp(since + 86_399n);
    await expect(vault.connect(alice).withdraw()).to.be.reverted;
  });

  it("pays interest after ten days", async () => {
    const { coin, vault, alice } = await loadFixture(deployed);
    await vault.connect(alice).deposit(1000n);
    const { since } = await vault.deposits(alice.address);
    await time.setNextBlockTimestamp(since + 864_000n);
    await expect(vault.connect(alice).withdraw()).to.emit(vault, "Withdrawn").withArgs(alice.address, 1000n, 10n);
    expect(await coin.balanceOf(alice.address)).to.equal(1010n);
  });

  it("panics at a division by zero", async () => {
    const { vault } = await loadFixture(deployed);
    await expect(vault.divide(1n, 0n)).to.be.revertedWithPanic(PANIC_CODES.DIVISION_BY_ZERO);
  });

  it("may fail without a reason", async () => {
    const { vault } = await loadFixture(deployed);
    await expect(vault.fail()).to.be.revertedWithoutReason(ethers);
  });

  it("lets nobody mint but the owner", async () => {
    const { coin, alice } = await loadFixture(deployed);
    await expect(coin.connect(alice).mint(alice.address, 1n))
      .to.be.revertedWithCustomError(coin, "OwnableUnauthorizedAccount").withArgs(alice.address);
  });

  it("acts for a contract that is impersonated", async () => {
    const { coin, vault, bob } = await loadFixture(deployed);
    await impersonateAccount(vault.target);
    await setBalance(vault.target, ethers.parseEther("1"));
    const signer = await ethers.getSigner(vault.target);
    await coin.connect(signer).transfer(bob.address, 77n);
    expect(await coin.balanceOf(bob.address)).to.equal(77n);
    await stopImpersonatingAccount(vault.target);
    await expect(coin.connect(signer).transfer(bob.address, 1n)).to.be.rejected;
  });

  it("acts for anybody who is impersonated", async () => {
    const { bob } = await loadFixture(deployed);
    const other = ethers.getAddress("0x" + "5e".repeat(20));
    await impersonateAccount(other);
    await setBalance(other, 10n ** 18n);
    const signer = await ethers.getSigner(other);
    await expect(signer.sendTransaction({ to: bob.address, value: 5n })).to.changeEtherBalance(bob, 5n);
  });

  it("has the balance, nonce, code and storage that are set", async () => {
    const { coin } = await loadFixture(deployed);
    const someone = ethers.getAddress("0x" + "ab".repeat(20));
    await setBalance(someone, 123n);
    await setNonce(someone, 9);
    expect(await ethers.provider.getBalance(someone)).to.equal(123n);
    expect(await ethers.provider.getTransactionCount(someone)).to.equal(9);
    const other = ethers.getAddress("0x" + "cd".repeat(20));
    await setCode(other, await ethers.provider.getCode(coin.target));
    await setStorageAt(other, 2, 55);
    expect(await getStorageAt(other, 2)).to.equal(ethers.zeroPadValue("0x37", 32));
    const copy = coin.attach(other);
    expect(await copy.totalSupply()).to.equal(55n);
  });

  it("mines what waits when asked to", async () => {
    const { coin, bob } = await loadFixture(deployed);
    await ethers.provider.send("evm_setAutomine", [false]);
    const sent = [await coin.transfer(bob.address, 1n), await coin.transfer(bob.address, 2n)];
    expect(await coin.balanceOf(bob.address)).to.equal(0n);
    await ethers.provider.send("evm_mine", []);
    const receipts = await Promise.all(sent.map((transaction) => transaction.wait()));
    expect(receipts[0].blockNumber).to.equal(receipts[1].blockNumber);
    expect(await coin.balanceOf(bob.address)).to.equal(3n);
    await ethers.provider.send("evm_setAutomine", [true]);
  });

  it("gives consecutive nonces to transactions that come together", async () => {
    const { coin, bob } = await loadFixture(deployed);
    await Promise.all(Array.from({ length: 10 }, () => coin.transfer(bob.address, 1n)));
    expect(await coin.balanceOf(bob.address)).to.equal(10n);
  });

  it("signs messages and typed data", async () => {
    const { alice } = await loadFixture(deployed);
    expect(ethers.verifyMessage("hello", await alice.signMessage("hello"))).to.equal(alice.address);
    const types = { Order: [{ name: "amount", type: "uint256" }, { name: "to", type: "address" }] };
    const [domain, order] = [{ name: "Vault", chainId: 1337 }, { amount: 5n, to: alice.address }];
    const signature = await alice.signTypedData(domain, types, order);
    expect(ethers.verifyTypedData(domain, types, order, signature)).to.equal(alice.address);
  });

  it("cannot be paid with more than one has", async () => {
    const { vault, alice } = await loadFixture(deployed);
    await expect(alice.sendTransaction({ to: vault.target, value: 10n ** 30n, gasLimit: 100_000n }))
      .to.be.rejectedWith("Sender doesn't have enough funds");
  });
});
`;

const MODULE = `const { buildModule } = require("@nomicfoundation/hardhat-ignition/modules");
module.exports = buildModule("LockerModule", (m) => ({ locker: m.contract("Locker", [4_000_000_000n], { value: 1_000n }) }));
`;

const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ name: "project", private: true }),
  "hardhat.config.js": CONFIG,
  "contracts/Locker.sol": LOCKER,
  "contracts/Vault.sol": VAULT,
  "ignition/modules/locker.js": MODULE,
  "test/locker.js": LOCKER_TESTS,
  "test/vault.js": VAULT_TESTS,
};
