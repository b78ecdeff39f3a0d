import { type Contender, startIbex, startInstantAnvil } from "../contenders.ts";
import { printRatio } from "../report.ts";
import { type HardhatProject, installHardhatProject } from "./hardhatProject.ts";
import { BuilderSuite, type MethodTime } from "./suite.ts";

const TESTS = 200;

interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly methods: ReadonlyMap<string, MethodTime>;
}

/** The two nodes run each suite in turns, so that what else the computer does meets both. */
export async function measureBuilders(rounds: number): Promise<void> {
  await measureBareRequests(rounds);
  await measureHardhat(rounds);
}

/** The requests of the tests alone. */
async function measureBareRequests(rounds: number): Promise<void> {
  const ibex = await startIbex(undefined, ["--dev-instant-blocks", "--explorer-enabled=false"]);
  const anvil = await startInstantAnvil();
  try {
    const results: { readonly ours: Round; readonly theirs: Round }[] = [];
    for (let round = 1; round <= rounds; round++) {
      const result = { ours: await runOnce(ibex), theirs: await runOnce(anvil) };
      results.push(result);
      console.log(`\n${TESTS} short tests with a fixture each, round ${round} of ${rounds}`);
      printRatio("the suite", "s", result.ours.seconds, result.theirs.seconds);
      printRatio("the node's CPU", "s", result.ours.cpuSeconds, result.theirs.cpuSeconds);
    }
    console.log("\nby method, mean of all rounds");
    const [oursByMethod, theirsByMethod] = [
      sumByMethod(results.map((each) => each.ours)),
      sumByMethod(results.map((each) => each.theirs)),
    ];
    for (const [method, time] of oursByMethod) {
      const peer = theirsByMethod.get(method);
      if (peer !== undefined)
        printRatio(`${method}, ${time.requests / rounds} times`, "ms", meanOf(time), meanOf(peer));
    }
  } finally {
    await anvil.stop();
    await ibex.stop();
  }
}

/** The tests in a project for Hardhat, from the start of the command to its end, on `npm start` as it is shipped. */
async function measureHardhat(rounds: number): Promise<void> {
  const project = await installHardhatProject(TESTS);
  const ibex = await startIbex();
  const anvil = await startInstantAnvil();
  try {
    for (let round = 1; round <= rounds; round++) {
      const [ours, theirs] = [await runProject(project, ibex), await runProject(project, anvil)];
      console.log(`\n${TESTS} short tests in a project for Hardhat, round ${round} of ${rounds}`);
      printRatio("npx hardhat test", "s", ours.seconds, theirs.seconds);
      printRatio("the node's CPU", "s", ours.cpuSeconds, theirs.cpuSeconds);
    }
  } finally {
    await anvil.stop();
    await ibex.stop();
    project.remove();
  }
}

async function runProject(project: HardhatProject, { port, cpuSeconds }: Contender) {
  const before = cpuSeconds();
  const seconds = await project.test(port);
  return { seconds, cpuSeconds: cpuSeconds() - before };
}

async function runOnce(contender: Contender): Promise<Round> {
  const suite = await BuilderSuite.open(contender.port);
  const before = contender.cpuSeconds();
  const { seconds, methods } = await suite.run(TESTS);
  suite.close();
  return { seconds, methods, cpuSeconds: contender.cpuSeconds() - before };
}

function sumByMethod(rounds: readonly Round[]): ReadonlyMap<string, MethodTime> {
  const sums = new Map<string, MethodTime>();
  for (const { methods } of rounds)
    for (const [method, { requests, milliseconds }] of methods) {
      const sum = sums.get(method) ?? { requests: 0, milliseconds: 0 };
      sums.set(method, {
        requests: sum.requests + requests,
        milliseconds: sum.milliseconds + milliseconds,
      });
    }
  return sums;
}

const meanOf = ({ requests, milliseconds }: MethodTime): number => milliseconds / requests;
