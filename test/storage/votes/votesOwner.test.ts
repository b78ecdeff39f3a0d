import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { DamagedData } from "../../../src/storage/database.ts";
import { openVoteLog } from "../../../src/storage/votes/voteLog.ts";
import { claimVotes, openVotesOf, votesOwner } from "../../../src/storage/votes/votesOwner.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { account } from "../../builders/testAccounts.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

const [ONE, OTHER] = [account(1).address, account(2).address];
const VOTE = Uint8Array.of(1, 2, 3);

const newPath = (): string => join(temporaryFolder(), "votes.log");

async function vote(path: string): Promise<void> {
  const log = await openVoteLog(path);
  await log.write(VOTE);
  await log.close();
}

async function voteIn(path: string): Promise<Uint8Array | undefined> {
  const log = await openVoteLog(path);
  await log.close();
  return log.read();
}

describe("the votes in a folder", () => {
  it("are those of the validator that began them, at each of its starts", async () => {
    const path = newPath();
    expect(claimVotes(path, ONE)).toBeUndefined();
    await vote(path);
    expect(claimVotes(path, ONE)).toBeUndefined();
    expect(await voteIn(path)).toEqual(VOTE);
    expect(votesOwner(path)).toEqual(ONE);
  });

  it("are put aside for the key of another validator, which then has none", async () => {
    const path = newPath();
    claimVotes(path, ONE);
    await vote(path);
    const copy = `${path}.of-${toHex(ONE)}`;
    const { logger, lines } = loggedLines();
    await (await openVotesOf(path, OTHER, logger)).close();
    await (await openVotesOf(path, OTHER, logger)).close();
    expect(lines).toMatchObject([{ level: "WARN", validator: toHex(ONE), copy }]);
    expect(await voteIn(path)).toBeUndefined();
    expect(await voteIn(copy)).toEqual(VOTE);
    // The former validator does not get them back either: it may have voted elsewhere since.
    await vote(path);
    expect(claimVotes(path, ONE)).toMatchObject({ validator: OTHER });
    expect(await voteIn(path)).toBeUndefined();
  });

  it("of a folder that says nothing of their validator, as earlier versions left it, are the key's", async () => {
    const path = newPath();
    await vote(path);
    expect(claimVotes(path, ONE)).toBeUndefined();
    expect(await voteIn(path)).toEqual(VOTE);
    expect(claimVotes(path, OTHER)).toMatchObject({ validator: ONE });
  });

  it("cannot be mixed up where there are none", async () => {
    const path = newPath();
    claimVotes(path, ONE);
    await (await openVoteLog(path)).close();
    expect(claimVotes(path, OTHER)).toBeUndefined();
    expect(existsSync(`${path}.of-${toHex(ONE)}`)).toBe(false);
  });

  it("are put aside at the next start when a kill came between that and the new address", async () => {
    const path = newPath();
    claimVotes(path, ONE);
    await vote(path);
    claimVotes(path, OTHER);
    writeFileSync(`${path}.of`, toHex(ONE));
    expect(claimVotes(path, OTHER)).toBeUndefined();
    expect(await voteIn(path)).toBeUndefined();
  });

  it("are not guessed at when the file with the address is damaged", () => {
    const path = newPath();
    claimVotes(path, ONE);
    writeFileSync(`${path}.of`, readFileSync(`${path}.of`, "utf8").slice(0, 9));
    expect(() => claimVotes(path, ONE)).toThrow(DamagedData);
  });

  it.runIf(process.platform === "linux").each(["votes.log.of", "votes.log"])(
    "are not waited for, nor read without end, where %s is a pipe or huge",
    async (name) => {
      const path = newPath();
      claimVotes(path, ONE);
      const file = join(path, "..", name);
      const open = async () => claimVotes(path, ONE) ?? (await (await openVoteLog(path)).close());
      rmSync(file, { force: true });
      execFileSync("mkfifo", [file]);
      const writer = spawn("sh", ["-c", `echo ${toHex(ONE)} > ${file}`]);
      onTestFinished(() => void writer.kill());
      await expect(open()).rejects.toThrow(DamagedData);
      rmSync(file);
      writeFileSync(file, "");
      truncateSync(file, 3 * 1024 ** 3);
      await expect(open()).rejects.toThrow(DamagedData);
    },
  );
});
