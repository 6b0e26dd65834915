import { useQuery } from '@tanstack/react-query';
import { providerStart, providersQuery } from '../../data/sign-in.js';
import { loginTexts } from '../../texts/login.js';
import { buttonClasses } from '../../ui/button.js';

/** The other services by which one may sign in; none where none is set up. */
export function Providers({ returnTo }: { readonly returnTo: string }) {
  const { data, isError } = useQuery(providersQuery);
  if (isError) return <p className="text-[13px] text-muted">{loginTexts.providersFailed}</p>;
  if (data === undefined || data.length === 0) return null;
  return (
    <div className="flex flex-col gap-3">
      <p className="flex items-center gap-3 text-[13px] text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {loginTexts.or}
      </p>
      {data.map(({ id, name }) => (
        <a key={id} href={providerStart(id, returnTo)} className={buttonClasses()}>
          {loginTexts.with(name)}
        </a>
      ))}
    </div>
  );
}
