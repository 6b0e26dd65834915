import { shellTexts } from '../texts/shell.js';
import { Button } from './button.js';

/** Takes all filters of a list away, in a row of its own below them. */
export function ClearFilters({ onClear }: { readonly onClear: () => void }) {
  return (
    <div className="col-span-full">
      <Button look="quiet" size="small" onClick={onClear}>
        {shellTexts.clearFilters}
      </Button>
    </div>
  );
}
