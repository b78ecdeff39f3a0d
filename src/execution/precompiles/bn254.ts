import { Bn254TwistOrder } from "./bn254TwistOrder.ts";
import {
  failed,
  type PrecompileCall,
  type PrecompileResult,
  padded,
  type SlicedWork,
  succeeded,
} from "./contract.ts";
import { CurveMemory } from "./curveMemory.ts";
import type { Mcl } from "./mcl.ts";
import { writeBytes } from "./multiplySum.ts";
import { Pairing } from "./pairing.ts";

const BN254_MODULUS = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** Precompiled contracts 0x06 to 0x08 (EIP-196, EIP-197) for given prices. */
export interface Bn254 {
  add(call: PrecompileCall, gas: bigint): PrecompileResult;
  multiply(call: PrecompileCall, gas: bigint): PrecompileResult;
  pair(call: PrecompileCall, gas: bigint, gasPerPair: bigint): PrecompileResult | SlicedWork;
}

/** Coordinates are 32 bytes, big-endian; a pair of them begins with the imaginary part. */
export function bn254(mcl: Mcl): Bn254 {
  const curve = new CurveMemory(mcl, { modulus: BN254_MODULUS, numberBytes: 32, hasSecondFirst: true });
  const { g1 } = mcl;
  const order = new Bn254TwistOrder(curve);
  const pairing = new Pairing(curve, (_, point2) => order.holdsFor(point2));
  const [a, b] = [mcl.allocate(g1.pointBytes), mcl.allocate(g1.pointBytes)];
  const scalar = mcl.allocate(SCALAR_BYTES);
  const scalarBytes = mcl.allocate(SCALAR_BYTES);

  function* paired(call: PrecompileCall, gas: bigint): SlicedWork {
    const output = yield* pairing.check(call.data);
    return output === undefined ? failed(call, "invalidInput") : succeeded(gas, output);
  }

  return {
    add(call, gas) {
      if (gas > call.gasLimit) return failed(call, "outOfGas");
      const data = padded(call.data, 128);
      if (!curve.readPoint(data, 0, a) || !curve.readPoint(data, 64, b)) return failed(call, "invalidInput");
      g1.add(a, a, b);
      return succeeded(gas, curve.bytesOfPoint(g1, a));
    },

    multiply(call, gas) {
      if (gas > call.gasLimit) return failed(call, "outOfGas");
      const data = padded(call.data, 96);
      if (!curve.readPoint(data, 0, a)) return failed(call, "invalidInput");
      if (g1.isZero(a) === 1) return succeeded(gas, new Uint8Array(64));
      writeBytes(mcl.words(), data.subarray(64), scalarBytes);
      mcl.setScalar(scalar, scalarBytes, SCALAR_BYTES);
      g1.multiplySum(b, a, scalar, 1);
      return succeeded(gas, curve.bytesOfPoint(g1, b));
    },

    pair(call, gas, gasPerPair) {
      const { data, gasLimit } = call;
      if (data.length % PAIR_BYTES !== 0) return failed(call, "invalidInput");
      const price = gas + gasPerPair * BigInt(data.length / PAIR_BYTES);
      return price > gasLimit ? failed(call, "outOfGas") : paired(call, price);
    },
  };
}

const SCALAR_BYTES = 32;
const PAIR_BYTES = 192;
