import { type Architecture, type Linear, sum } from "./architecture.ts";

/** `targets`: module names, or `auto` = the list that palate_bridge/lora.py has for these architectures. */
export interface AdapterShape {
  readonly rank: number;
  readonly targets: "auto" | readonly string[];
}

// The two small gates of a Gated DeltaNet layer: left out by `auto`, as servers drop them without a word.
const NOT_AUTO: ReadonlySet<string> = new Set(["in_proj_a", "in_proj_b"]);

/** A and B of every target: rank x (inputs + outputs). */
export function adapterParameters(architecture: Architecture, adapter: AdapterShape): number {
  return sum(
    architecture.layers,
    ({ count, linears }) =>
      count * adapter.rank * sum(targetsOf(linears, adapter), ({ inputs, outputs }) => inputs + outputs),
  );
}

export function targetsOf(linears: readonly Linear[], { targets }: AdapterShape): Linear[] {
  return linears.filter(({ name }) => (targets === "auto" ? !NOT_AUTO.has(name) : targets.includes(name)));
}
