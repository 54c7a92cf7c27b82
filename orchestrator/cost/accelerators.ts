import { UsageError } from "../errors.ts";
import type { Dtype } from "./memory.ts";

/** One device. Rates are peaks without sparsity; bytes are what one program can use. */
export interface Accelerator {
  readonly name: string;
  readonly device: "cuda" | "cpu";
  readonly usableBytes: number;
  readonly flopsPerSecond: Readonly<Record<Dtype, number>>;
  /** Of its memory, for decoding, which reads all weights for every token. */
  readonly bytesPerSecond: number;
  readonly source: string;
}

const MIB = 1024 ** 2;
/** Of what the driver shows: the rest goes to error correction, the driver and fragments (77 of 80 GiB). */
const USABLE = 0.9625;

const CARDS: readonly Accelerator[] = [
  {
    name: "a100-80gb",
    device: "cuda",
    usableBytes: USABLE * 81_920 * MIB,
    flopsPerSecond: { bfloat16: 312e12, float32: 19.5e12 },
    bytesPerSecond: 2.039e12,
    source: "NVIDIA A100 datasheet, SXM, 2021",
  },
  {
    name: "a100-40gb",
    device: "cuda",
    usableBytes: USABLE * 40_960 * MIB,
    flopsPerSecond: { bfloat16: 312e12, float32: 19.5e12 },
    bytesPerSecond: 1.555e12,
    source: "NVIDIA A100 datasheet, SXM, 2021",
  },
  {
    name: "h100-80gb",
    device: "cuda",
    usableBytes: USABLE * 81_559 * MIB,
    flopsPerSecond: { bfloat16: 989e12, float32: 67e12 },
    bytesPerSecond: 3.35e12,
    source: "NVIDIA H100 datasheet, SXM, 2023 (dense)",
  },
  {
    name: "h200-141gb",
    device: "cuda",
    usableBytes: USABLE * 143_771 * MIB,
    flopsPerSecond: { bfloat16: 989e12, float32: 67e12 },
    bytesPerSecond: 4.8e12,
    source: "NVIDIA H200 datasheet, SXM, 2024 (dense)",
  },
];

export const ACCELERATOR_NAMES: readonly string[] = [...CARDS.map(({ name }) => name), "cpu"];

/** @throws UsageError for a name that is not in the table; `cpu` is described by the caller (cpuAccelerator). */
export function namedAccelerator(name: string): Accelerator {
  const found = CARDS.find((card) => card.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`--accelerator ${name}: not in the table.`, {
    nextStep: `Give one of ${ACCELERATOR_NAMES.join(", ")}.`,
    facts: { accelerator: name },
  });
}

export interface CpuFacts {
  readonly cores: number;
  readonly hertz: number;
  /** As /proc/cpuinfo names them; empty where it is unknown. */
  readonly flags: ReadonlySet<string>;
  readonly bytes: number;
}

/** Of main memory that a training process may take before others are pushed out. */
const USABLE_HOST = 0.9;
/** Two channels of DDR4-3200 give 51 GB/s at best; a shared machine gives a program less than half. */
const HOST_BYTES_PER_SECOND = 20e9;

/** Peak = cores x clock x FLOPs a cycle of two fused multiply-add units of the widest vectors it has. */
export function cpuAccelerator({ cores, hertz, flags, bytes }: CpuFacts): Accelerator {
  const float32 = flags.has("avx512f") ? 64 : flags.has("avx2") ? 32 : 16;
  const bfloat16 = flags.has("amx_bf16") ? 1024 : flags.has("avx512_bf16") ? 128 : float32;
  const rate = cores * (hertz > 0 ? hertz : 2.5e9);
  return {
    name: "cpu",
    device: "cpu",
    usableBytes: USABLE_HOST * bytes,
    flopsPerSecond: { float32: rate * float32, bfloat16: rate * bfloat16 },
    bytesPerSecond: HOST_BYTES_PER_SECOND,
    source: `this machine: ${cores} cores, ${(rate / cores / 1e9).toFixed(1)} GHz`,
  };
}
