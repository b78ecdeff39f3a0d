import { G1_DISCOUNTS, G2_DISCOUNTS, multiplySumPrice } from "./bls12Prices.ts";
import {
  failed,
  type PrecompileCall,
  type PrecompileResult,
  type RunPrecompile,
  type SlicedWork,
  succeeded,
} from "./contract.ts";
import { CurveMemory } from "./curveMemory.ts";
import type { Group, Mcl } from "./mcl.ts";
import { MultiplySum } from "./multiplySum.ts";
import { Pairing } from "./pairing.ts";

const BLS12_MODULUS =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn;

/**
 * Precompiled contracts 0x0b to 0x11 by their numbers (EIP-2537). Coordinates are 64 bytes, of which the first sixteen
 * are zero. Additions take any points of the curves, the others only those of the groups.
 */
export function bls12(mcl: Mcl): ReadonlyMap<number, RunPrecompile> {
  const curve = new CurveMemory(mcl, { modulus: BLS12_MODULUS, numberBytes: 64, hasSecondFirst: false });
  const { g1, g2 } = mcl;
  const pairing = new Pairing(curve, (point, point2) => isInGroup(g1, point) && isInGroup(g2, point2));
  const reader1: PointReader = {
    group: g1,
    bytes: curve.bytes1,
    read: (bytes, at, point) => curve.readPoint(bytes, at, point),
  };
  const reader2: PointReader = {
    group: g2,
    bytes: curve.bytes2,
    read: (bytes, at, point) => curve.readPoint2(bytes, at, point),
  };
  return new Map([
    [0x0b, addition(curve, reader1, 375n)],
    [0x0c, sumOfProducts(curve, reader1, { gas: 12_000n, discounts: G1_DISCOUNTS, countInSlice: 24 })],
    [0x0d, addition(curve, reader2, 600n)],
    [0x0e, sumOfProducts(curve, reader2, { gas: 22_500n, discounts: G2_DISCOUNTS, countInSlice: 10 })],
    [0x0f, pairingCheck(pairing)],
    [0x10, mapping(curve, g1, 5500n)],
    [0x11, mapping(curve, g2, 23_800n)],
  ]);
}

interface PointReader {
  readonly group: Group;
  readonly bytes: number;
  read(bytes: Uint8Array, at: number, point: number): boolean;
}

function isInGroup(group: Group, point: number): boolean {
  return group.isZero(point) === 1 || group.isValidOrder(point) === 1;
}

function addition(curve: CurveMemory, { group, bytes, read }: PointReader, gas: bigint): RunPrecompile {
  const [a, b] = [curve.mcl.allocate(group.pointBytes), curve.mcl.allocate(group.pointBytes)];
  return (call) => {
    if (gas > call.gasLimit) return failed(call, "outOfGas");
    const { data } = call;
    if (data.length !== 2 * bytes || !read(data, 0, a) || !read(data, bytes, b))
      return failed(call, "invalidInput");
    group.add(a, a, b);
    return succeeded(gas, curve.bytesOfPoint(group, a));
  };
}

interface SumTerms {
  /** Gas for one point, before the discount. */
  readonly gas: bigint;
  readonly discounts: readonly number[];
  readonly countInSlice: number;
}

function sumOfProducts(
  curve: CurveMemory,
  { group, bytes, read }: PointReader,
  { gas, discounts, countInSlice }: SumTerms,
): RunPrecompile {
  const sums = new MultiplySum({ curve, group, encodedBytes: bytes, read, countInSlice });
  const termBytes = bytes + 32;
  return (call) => {
    const { data, gasLimit } = call;
    if (data.length === 0) return failed(call, "invalidInput");
    const price = multiplySumPrice(Math.floor(data.length / termBytes), gas, discounts);
    if (price > gasLimit) return failed(call, "outOfGas");
    if (data.length % termBytes !== 0) return failed(call, "invalidInput");
    return resultOf(call, price, sums.of(data));
  };
}

function pairingCheck(pairing: Pairing): RunPrecompile {
  return (call) => {
    const { data, gasLimit } = call;
    if (data.length === 0 || data.length % PAIR_BYTES !== 0) return failed(call, "invalidInput");
    const price = 37_700n + 32_600n * BigInt(data.length / PAIR_BYTES);
    return price > gasLimit ? failed(call, "outOfGas") : resultOf(call, price, pairing.check(data));
  };
}

const PAIR_BYTES = 384;

function mapping(curve: CurveMemory, group: Group, gas: bigint): RunPrecompile {
  const { mcl } = curve;
  const isFirst = group === mcl.g1;
  const number = mcl.allocate(2 * mcl.fieldBytes);
  const point = mcl.allocate(group.pointBytes);
  return (call) => {
    if (gas > call.gasLimit) return failed(call, "outOfGas");
    const { data } = call;
    if (data.length !== (isFirst ? 64 : 128)) return failed(call, "invalidInput");
    if (!(isFirst ? curve.readNumber(data, 0, number) : curve.readPair(data, 0, number)))
      return failed(call, "invalidInput");
    if (isFirst) mcl.mapToG1(point, number);
    else mcl.mapToG2(point, number);
    return succeeded(gas, curve.bytesOfPoint(group, point));
  };
}

function* resultOf(
  call: PrecompileCall,
  gas: bigint,
  work: Generator<undefined, Uint8Array | undefined>,
): SlicedWork<PrecompileResult> {
  const output = yield* work;
  return output === undefined ? failed(call, "invalidInput") : succeeded(gas, output);
}
