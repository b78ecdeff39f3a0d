import { afterAll, beforeAll } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { bridgeTests } from "./bridge.ts";
import { conservationTests } from "./conservation.ts";
import { type Deployment, deployApplications } from "./deployment.ts";
import { eventTests } from "./events.ts";
import { exchangeTests } from "./exchange.ts";
import { farmTests } from "./farm.ts";
import { lockerTests } from "./locker.ts";
import { startFourValidators, startOneNode } from "./networks.ts";
import { stakingTests } from "./staking.ts";

/**
 * The applications around the chain: contracts in `contracts/`, parameters of the interface document
 * in `parameters.ts`. They run on four validators under the main network's rules with a second chain at the bridge's other
 * end (`npm run test:long`), and in short on one node in the daily run. A live chain's clock cannot be moved, so what takes
 * days is asked of eth_simulateV1, on the same contracts with their real parameters.
 */
let deployment: Deployment;

beforeAll(async () => {
  const networks = await (IS_THOROUGH ? startFourValidators() : startOneNode());
  deployment = await deployApplications(networks);
});

afterAll(async () => {
  if (IS_THOROUGH) console.log(deployment?.home.usage.gasLines().join("\n"));
  await deployment?.stop();
});

bridgeTests(() => deployment);
exchangeTests(() => deployment);
farmTests(() => deployment);
stakingTests(() => deployment);
lockerTests(() => deployment);

eventTests(() => deployment);
conservationTests(() => deployment);
